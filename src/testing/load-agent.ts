import { dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DEFAULT_AGENT, loadAgents } from "../agent/load-agents.ts";
import { AppError } from "../errors/app-error.ts";
import type { JsonObject } from "../lib/json.ts";
import { defineTool, type Tool } from "../tool/define-tool.ts";
import { loadTools, settingsOf } from "../tool/load-tools.ts";
import { toolPrefix } from "../tool/mcp/to-mcp-tool.ts";
import { type ServerTool, toServerTool } from "../tool/server-tool.ts";
import type { ConfigFile, ConfigFileValues } from "../worker/config-file.ts";
import { checkAgents } from "../worker/settings/check-agents.ts";
import { checkConfig, readConfigFile } from "../worker/settings/read-config-file.ts";
import { type Behaviour, type Behaviours, inTurn, toList, toValue } from "./device/behaviour.ts";
import type { AgentParts } from "./stage/stage.ts";

export interface AgentOptions {
  /** What parley.config.ts exports, or the path of such a file. @defaultValue "parley.config.ts" */
  readonly config?: ConfigFile | string;
  /** Which agent of the config's `agentsFolder` serves the talk. @defaultValue that of the config, "default" */
  readonly agent?: string;
  /** In the place of the files in the config's `toolsFolder`. */
  readonly tools?: Readonly<Record<string, Tool>>;
  /** Tools that must not run, with what they do instead. One that the agent does not have needs a `description`. */
  readonly mocks?: Readonly<Record<string, Behaviours>>;
}

/** @throws {AppError} `invalid_config` */
export async function loadAgent(options: AgentOptions): Promise<AgentParts> {
  const { config = "parley.config.ts", agent: name = DEFAULT_AGENT, tools, mocks = {} } = options;
  const { values, folder } = await readConfig(config);
  const own = tools
    ? toTools(tools, values)
    : await loadTools(resolve(folder, values.toolsFolder), values.toolSettings);
  const all = new Map(own);
  for (const [name, behaviours] of Object.entries(mocks)) {
    const tool = own.get(name) ?? madeTool(name, behaviours);
    if (!tool)
      throw new AppError("invalid_config", `mocks.${name}: the agent has no such tool; a description would make one`);
    all.set(name, mockTool(tool, behaviours));
  }
  const agents = await loadAgents(resolve(folder, values.agentsFolder));
  const prefixes = Object.keys(values.mcpServers).map(toolPrefix);
  // Not with the test's own tools: they may lack some that the agents name.
  if (!tools) checkAgents(agents, { config: values, prefixes, toolNames: all });
  if (name !== DEFAULT_AGENT && !agents.has(name))
    throw new AppError("invalid_config", `agent: there is no agent "${name}" in ${values.agentsFolder}`);
  const deadlines = new Map<string, number>();
  const timed = new Map([...all].map(([tool, own]) => [tool, withDeadline(own, () => deadlines.get(tool))]));
  return { name, config: values, tools: timed, deadlines, agents };
}

/** The tool, with the deadline that the test's device sets later on; else with its own. */
function withDeadline(tool: ServerTool, ofDevice: () => number | undefined): ServerTool {
  return {
    ...tool,
    get timeoutMs() {
      return ofDevice() ?? tool.timeoutMs;
    },
  };
}

/** A stand-in for a tool that no file of the agent defines, such as one of an MCP server. */
function madeTool(name: string, behaviours: Behaviours): ServerTool | undefined {
  const { description, input = { type: "object" } } = toList(behaviours)[0] ?? {};
  return description === undefined
    ? undefined
    : toServerTool(name, defineTool({ description, input, run: () => {} }), undefined);
}

/** The agent's own tool with its schema and permission, but with a test's behaviour in place of `run`, and its deadline. */
function mockTool(tool: ServerTool, behaviours: Behaviours): ServerTool {
  const next = inTurn(behaviours);
  const timeoutMs = toList(behaviours).find((each) => each.timeoutMs !== undefined)?.timeoutMs ?? tool.timeoutMs;
  return { ...tool, timeoutMs, run: (input, { signal }) => behave(next(), input as JsonObject, signal) };
}

async function behave(behaviour: Behaviour, input: JsonObject, signal: AbortSignal): Promise<unknown> {
  switch (behaviour.kind) {
    case "answer":
      if (behaviour.afterMs > 0) await sleep(behaviour.afterMs, undefined, { signal });
      return toValue(behaviour.value, input);
    case "throws":
      throw new Error(behaviour.message);
    case "never":
    case "leave":
      await sleep(600_000, undefined, { signal });
      return undefined;
  }
}

async function readConfig(config: ConfigFile | string): Promise<{ values: ConfigFileValues; folder: string }> {
  if (typeof config !== "string") return { values: checkConfig(config, "config"), folder: process.cwd() };
  const path = resolve(config);
  return { values: await readConfigFile(path, "config"), folder: dirname(path) };
}

/** Leaves out tools that are off, as the start does. */
function toTools(tools: Readonly<Record<string, Tool>>, { toolSettings }: ConfigFileValues): Map<string, ServerTool> {
  return new Map(
    Object.entries(tools).flatMap(([name, tool]) => {
      const { own, isOff } = settingsOf(name, tool, toolSettings);
      return isOff ? [] : [[name, toServerTool(name, tool, own)]];
    }),
  );
}
