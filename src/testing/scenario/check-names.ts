import { BUILT_IN_TOOLS, CALL_TOOLS } from "../../agent/agent-fields.ts";
import { AppError } from "../../errors/app-error.ts";
import { didYouMean } from "../../lib/checks/did-you-mean.ts";
import { toolPrefix } from "../../tool/mcp/to-mcp-tool.ts";
import type { AgentParts } from "../stage/stage.ts";
import type { Scenario } from "./schema.ts";

/**
 * Checks the tools to whose questions the participant has an answer: an answer for a tool that neither the agent nor the
 * device has would never be given.
 *
 * @throws {AppError} `invalid_config` naming the tool
 */
export function checkNames({ turns, ...scenario }: Scenario, { tools, config }: AgentParts): void {
  const parts = [scenario, ...turns];
  const devices = parts.flatMap(({ device = {} }) => Object.keys(device));
  const names = [...tools.keys(), ...devices, ...BUILT_IN_TOOLS, ...CALL_TOOLS, "hand_off", "ask_user"];
  const prefixes = Object.keys(config.mcpServers).map(toolPrefix);
  const unknown = parts
    .flatMap(({ permission = [] }) => permission.flatMap(({ tool }) => tool ?? []))
    .filter((tool) => !names.includes(tool) && !prefixes.some((prefix) => tool.startsWith(prefix)));
  if (unknown.length === 0) return;
  const lines = unknown.map((tool) => `permission.${tool}: there is no tool "${tool}".${didYouMean(tool, names)}`);
  throw new AppError("invalid_config", lines.join("\n"));
}
