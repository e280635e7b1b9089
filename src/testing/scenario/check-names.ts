import { BUILT_IN_TOOLS, CALL_TOOLS } from "../../agent/agent-fields.ts";
import { AppError } from "../../errors/app-error.ts";
import { didYouMean } from "../../lib/checks/did-you-mean.ts";
import { toolPrefix } from "../../tool/mcp/to-mcp-tool.ts";
import type { AgentParts } from "../stage/stage.ts";
import type { Scenario } from "./schema.ts";

/**
 * Checks the tool names of permission answers and expectations. With a misspelled name, a permission answer would never
 * be used, a call that must be absent would always be absent, and another expectation would fail without a hint.
 *
 * @throws {AppError} `invalid_config` naming the tool
 */
export function checkNames({ turns, ...scenario }: Scenario, { tools, config }: AgentParts): void {
  const parts = [scenario, ...turns];
  const devices = parts.flatMap(({ device = {} }) => Object.keys(device));
  const names = [...tools.keys(), ...devices, ...BUILT_IN_TOOLS, ...CALL_TOOLS, "hand_off", "ask_user"];
  const prefixes = Object.keys(config.mcpServers).map(toolPrefix);
  // A script may make the model call a tool that does not exist.
  const called = turns.flatMap(({ model = [] }) => model.flatMap(({ use = [] }) => use.flatMap(Object.keys)));
  const expected = turns.flatMap(({ expect = [] }) =>
    expect.flatMap(({ calls = [], asked = [] }) => [...calls.map(nameOf), ...asked]),
  );
  const isUnknown = (tool: string) =>
    !names.includes(tool) && !prefixes.some((prefix) => tool.startsWith(prefix)) && !called.includes(tool);
  const asked = parts.flatMap(({ permission = [] }) => permission.flatMap(({ tool }) => tool ?? []));
  const lines = [
    ...asked.filter(isUnknown).map((tool) => `permission.${tool}: ${noTool(tool, names)}`),
    // An expectation may be about an unknown tool, so only names similar to a known one are reported.
    ...expected
      .filter((tool) => isUnknown(tool) && didYouMean(tool, names) !== "")
      .map((tool) => `expect.${tool}: ${noTool(tool, names)}`),
  ];
  if (lines.length === 0) return;
  throw new AppError("invalid_config", lines.join("\n"));
}

function noTool(tool: string, names: readonly string[]): string {
  return `there is no tool "${tool}".${didYouMean(tool, names)}`;
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}
