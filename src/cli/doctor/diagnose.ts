import { HOW_TO_CREATE } from "../published.ts";
import { loadAgents } from "../../agent/load-agents.ts";
import { loadTools, toolNamesIn } from "../../tool/load-tools.ts";
import { toolPrefix } from "../../tool/mcp/to-mcp-tool.ts";
import { missingPlugins, missingSpeech } from "../../voice/providers/speech-choice.ts";
import type { Config } from "../../worker/config.ts";
import { checkVariables } from "../../worker/settings/check-env-file.ts";
import { checkAgents, patternsWithoutTool } from "../../worker/settings/check-agents.ts";
import { checkPorts } from "../../worker/settings/check-ports.ts";
import { unsetSpeech } from "../../worker/settings/default-speech.ts";
import { loadConfig } from "../../worker/settings/load-config.ts";
import { missingKeys, missingPrices, missingSettings, modelsOf } from "../../worker/settings/missing-settings.ts";
import { checkMcpServers } from "./check-mcp.ts";
import { checkServices } from "./check-services.ts";
import { type Finding, messageOf, missing, note, ok } from "./finding.ts";

export interface DoctorOptions {
  /**
   * Whether to check what `parley worker` needs instead of what `parley start` needs. The worker starts no services
   * itself.
   */
  readonly isWorkerOnly: boolean;
}

/** Checks everything except LiveKit's native library, which these checks require. Changes nothing. */
export async function diagnose({ isWorkerOnly }: DoctorOptions): Promise<Finding[]> {
  let config: Config;
  try {
    for (const { variable, problem } of await unsetSpeech(process.env, process.cwd()))
      if (problem === undefined) process.env[variable] = "embedded";
    config = await loadConfig(process.env, process.cwd());
  } catch (error) {
    const remedy = `correct it, or make a complete agent (${HOW_TO_CREATE}). Then run the doctor again: it stopped here`;
    return [missing(messageOf(error), remedy)];
  }
  const unset = [
    ...missingSettings(config, isWorkerOnly, !isWorkerOnly),
    ...missingKeys(modelsOf(config), process.env),
    ...missingSpeech(config.speech),
  ];
  return [
    ok("the config file and the environment"),
    ...(await checkVariables(".env", process.env)).map((problem) =>
      note(problem, "correct it, if it is meant for Parley"),
    ),
    ...(await checkDefinitions(config)),
    ...unset.map((line) => missing(`not set: ${line}`, "set it in .env or in the environment")),
    ...missingPlugins(config.speech).map(({ name, use }) => missing(`no ${name}, ${use}`, `npm install ${name}`)),
    ...(unset.length === 0 ? await checkServices(config) : []),
    ...(await checkMcpServers(config)),
    await checkWhetherFree(config, isWorkerOnly),
  ];
}

/** Checks the tools and agents that are defined by the folder's files. */
async function checkDefinitions(config: Config): Promise<Finding[]> {
  const found: Finding[] = [];
  try {
    const tools = await loadTools(config.toolsFolder, config.toolSettings);
    found.push(ok(tools.size === 0 ? "no tools" : `tools: ${[...tools.keys()].join(", ")}`));
    const agents = await loadAgents(config.agentsFolder);
    const prefixes = Object.keys(config.mcpServers).map(toolPrefix);
    const known = { config, prefixes, tools, namesInFolder: await toolNamesIn(config.toolsFolder) };
    checkAgents(agents, known);
    const models = [...agents.values()].map(({ model }) => model?.name);
    found.push(...missingPrices(config, models).map((line) => missing(line, "set it")));
    for (const line of missingKeys([...agents.values()].flatMap(modelsOf), process.env))
      found.push(missing(`not set: ${line}`, "set it in .env or in the environment"));
    if (agents.size > 0) found.push(ok(`further agents: ${[...agents.keys()].join(", ")}`));
    const unused = patternsWithoutTool(agents, known);
    return [...found, ...unused.map((problem) => note(problem, "correct it, unless clients announce that tool"))];
  } catch (error) {
    return [...found, missing(messageOf(error), "correct that file or setting")];
  }
}

async function checkWhetherFree(config: Config, isWorkerOnly: boolean): Promise<Finding> {
  const url = `http://127.0.0.1:${config.httpPort}`;
  const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
  if (answer?.ok) return ok(`ports: a worker runs at ${url}`);
  return checkPorts(config, isWorkerOnly).then(
    () => ok("ports: free"),
    (error: unknown) => missing(messageOf(error), "stop the program that uses it, or choose another port in .env"),
  );
}
