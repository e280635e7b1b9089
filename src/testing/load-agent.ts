import { dirname, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DEFAULT_AGENT, loadAgents } from "../agent/load-agents.ts";
import { AppError } from "../errors/app-error.ts";
import { didYouMean } from "../lib/checks/did-you-mean.ts";
import type { JsonObject } from "../lib/json.ts";
import { defineTool, type Tool } from "../tool/define-tool.ts";
import { loadTools, settingsOf, toolNamesIn } from "../tool/load-tools.ts";
import { toolPrefix } from "../tool/mcp/to-mcp-tool.ts";
import { type ServerTool, toServerTool } from "../tool/server-tool.ts";
import type { ConfigFile, ConfigFileValues } from "../worker/config-file.ts";
import { checkAgents } from "../worker/settings/check-agents.ts";
import { checkConfig, readConfigFile } from "../worker/settings/read-config-file.ts";
import { type Behavior, type Behaviors, inTurn, toList, toValue } from "./device/behavior.ts";
import type { AgentParts } from "./stage/stage.ts";

export interface AgentOptions {
  /** What parley.config.ts exports, or the path of such a file. @defaultValue "parley.config.ts" */
  readonly config?: ConfigFile | string;
  /**
   * The agent in the config's `agentsFolder` that starts the session. @defaultValue "default", the config's own agent
   */
  readonly agent?: string;
  /** Replaces the files in the config's `toolsFolder`. */
  readonly tools?: Readonly<Record<string, Tool>>;
  /**
   * Replacements for tools that must not run, by name. A mock of a tool that the agent does not have needs a
   * `description`.
   */
  readonly mocks?: Readonly<Record<string, Behaviors>>;
}

/** Loads the agent that a test specifies, with its tools and mocks. @throws {AppError} `invalid_config` */
export async function loadAgent(options: AgentOptions): Promise<AgentParts> {
  const { config = "parley.config.ts", agent: name = DEFAULT_AGENT, tools, mocks = {} } = options;
  const { values, folder } = await readConfig(config);
  const own = tools
    ? toTools(tools, values)
    : await loadTools(resolve(folder, values.toolsFolder), values.toolSettings);
  const all = new Map(own);
  for (const [name, behaviors] of Object.entries(mocks)) {
    const tool = own.get(name) ?? madeTool(name, behaviors);
    if (!tool)
      throw new AppError(
        "invalid_config",
        `mocks.${name}: the agent has no such tool; add a description to create one.${didYouMean(name, own.keys())}`,
      );
    all.set(name, mockTool(tool, behaviors));
  }
  const agents = await loadAgents(resolve(folder, values.agentsFolder));
  const prefixes = Object.keys(values.mcpServers).map(toolPrefix);
  // Skipped when the test replaces the tools, because tools that the agents list may then be missing.
  if (!tools) {
    const namesInFolder = await toolNamesIn(resolve(folder, values.toolsFolder));
    checkAgents(agents, { config: values, prefixes, tools: all, namesInFolder });
  }
  if (name !== DEFAULT_AGENT && !agents.has(name))
    throw new AppError(
      "invalid_config",
      `agent: there is no agent "${name}" in ${values.agentsFolder}.${didYouMean(name, agents.keys())}`,
    );
  const deadlines = new Map<string, number>();
  const timed = new Map([...all].map(([tool, own]) => [tool, withDeviceTimeout(own, () => deadlines.get(tool))]));
  return { name, config: values, tools: timed, deadlines, agents };
}

/** Returns the tool with the timeout that the test's device sets later. Until then, the tool's own timeout applies. */
function withDeviceTimeout(tool: ServerTool, deviceTimeoutMs: () => number | undefined): ServerTool {
  return {
    ...tool,
    get timeoutMs() {
      return deviceTimeoutMs() ?? tool.timeoutMs;
    },
  };
}

/** Returns a stand-in for a tool that no file of the agent defines, such as an MCP server's tool. */
function madeTool(name: string, behaviors: Behaviors): ServerTool | undefined {
  const { description, input = { type: "object" } } = toList(behaviors)[0] ?? {};
  return description === undefined
    ? undefined
    : toServerTool(name, defineTool({ description, input, run: () => {} }), undefined);
}

/** Replaces a tool's `run`, and its timeout if the test sets one. Its schema and permission stay the same. */
function mockTool(tool: ServerTool, behaviors: Behaviors): ServerTool {
  const next = inTurn(behaviors);
  const timeoutMs = toList(behaviors).find((each) => each.timeoutMs !== undefined)?.timeoutMs ?? tool.timeoutMs;
  return { ...tool, timeoutMs, run: (input, { signal }) => behave(next(), input as JsonObject, signal) };
}

async function behave(behavior: Behavior, input: JsonObject, signal: AbortSignal): Promise<unknown> {
  switch (behavior.kind) {
    case "answer":
      if (behavior.afterMs > 0) await sleep(behavior.afterMs, undefined, { signal });
      return toValue(behavior.value, input);
    case "throws":
      throw new Error(behavior.message);
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

/** Omits disabled tools, as a worker does at startup. */
function toTools(tools: Readonly<Record<string, Tool>>, { toolSettings }: ConfigFileValues): Map<string, ServerTool> {
  return new Map(
    Object.entries(tools).flatMap(([name, tool]) => {
      const { own, isOff } = settingsOf(name, tool, toolSettings);
      return isOff ? [] : [[name, toServerTool(name, tool, own)]];
    }),
  );
}
