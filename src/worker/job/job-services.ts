import { hooksOf } from "../../agent/hooks.ts";
import type { ServedAgent } from "../../session/agent/served-agent.ts";
import type { SummaryModel } from "../../session/context/summarizer.ts";
import { createMemoryStore } from "../../session/memory/memory-store.ts";
import { createRecallStore } from "../../session/recall/recall-store.ts";
import type { PermissionEvents } from "../../session/permission/permission-store.ts";
import { connect, type Sql } from "../../store/database/pool.ts";
import { openEventHub } from "../../store/event-hub.ts";
import { loadRequestMarks } from "../../store/sessions/session-marks.ts";
import { PERMISSION_CHANNEL } from "../../store/permissions/reply-to-permission.ts";
import type { LiveTools, ServerTool } from "../../tool/server-tool.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import type { ModelCallReport } from "../../llm/watch-model.ts";
import { connectMcpServers } from "../../tool/mcp/mcp-servers.ts";
import { loadSpeech, type Speech } from "../../voice/providers/speech-choice.ts";
import type { Config } from "../config.ts";
import { openDefinitions, RELOADS } from "../definitions/definitions.ts";
import type { HooksOf } from "../hooks/call-session-end.ts";
import { ModelStatus } from "../telemetry/model-status.ts";
import { patternsWithoutMcpTool } from "../settings/check-agents.ts";
import { loadConfig } from "../settings/load-config.ts";
import { type Logger, createLogger } from "../logger.ts";
import { METRICS_HUB } from "../telemetry/metrics-hub.ts";
import { reportLosses } from "../telemetry/report-losses.ts";
import { startTelemetry } from "../telemetry/start-telemetry.ts";
import { openLogOutput } from "../terminal/log-output.ts";
import { builtInTools } from "./built-in-tools.ts";
import { isHosted, sendToWorker } from "./host-messages.ts";
import { serverOf } from "./serve-agents.ts";
import { createSessionModel } from "./session-model.ts";
import { openModel } from "../../voice/providers/embedded/open-model.ts";
import { judgesTurnEnds } from "../settings/turn-ends.ts";

/** Services that a job process loads before its first room and that all its jobs share. */
export interface JobServices {
  readonly config: Config;
  readonly logger: Logger;
  readonly sql: Sql;
  readonly permissionEvents: PermissionEvents;
  /** Server tools by name. Tools from MCP servers may appear and disappear; in development, any tool may change. */
  readonly serverTools: ReadonlyMap<string, ServerTool>;
  readonly liveTools: LiveTools;
  /** The agents by name, including the default one. In development, they may change. */
  readonly agents: ReadonlyMap<string, ServedAgent>;
  /** The agent defined in parley.config.ts. It serves rooms for which no other agent is chosen. */
  readonly defaultAgent: ServedAgent;
  readonly summaryModel?: SummaryModel | undefined;
  readonly hooksOf: HooksOf;
  /** Whether a webhook notifies the operator's server when a session ends. */
  readonly hasEndWebhook: boolean;
  /** `undefined` if sessions are text only. */
  readonly speech?: Speech | undefined;
  /** @defaultValue the providers that this process has registered with OpenTelemetry */
  readonly telemetry?: Telemetry;
  /** How long a lease lasts unless it is renewed. @defaultValue the default of `openSession` */
  readonly leaseMs?: number;
  readonly close: () => Promise<void>;
}

/**
 * Loads the services of a job process. The caller closes the result.
 *
 * @throws {AppError} `invalid_config`, also for an invalid tool or agent file, unless such files are reloaded
 */
export async function loadJobServices(env: NodeJS.ProcessEnv, cwd: string): Promise<JobServices> {
  const config = await loadConfig(env, cwd);
  const watching = startTelemetry({
    otel: config.otel,
    settings: { ...config.telemetry, server: serverOf(config.anthropicBaseUrl) },
    hubUrl: env[METRICS_HUB],
  });
  watching.joinProcess();
  const reloads = env[RELOADS] !== undefined;
  const logger = createLogger(config, { output: openLogOutput(config), also: watching.logStream });
  reportLosses(logger);
  const definitions = await openDefinitions(config, { reloads, isLenient: reloads, logger });
  const { anthropicApiKey: apiKey = "scripted", anthropicBaseUrl: baseUrl, databaseUrl } = config;
  if (databaseUrl === undefined) throw new TypeError("DATABASE_URL is not set in the job process");
  const sql = connect(databaseUrl, { applicationName: "parley job" });
  const builtIn = builtInTools(config, { recall: createRecallStore(sql), memories: createMemoryStore(sql) });
  const ownTools = () => new Map([...builtIn, ...definitions.tools]);
  const permissionEvents = openEventHub({
    listenUrl: config.databaseDirectUrl,
    channel: PERMISSION_CHANNEL,
    loadMarks: loadRequestMarks,
    sql,
    onError: (error) => logger.warn({ error }, "permission response listener failed, retrying"),
  });
  const chosen = await loadSpeech(config.speech, env);
  const listens = chosen?.stt !== undefined || config.voice.listen !== undefined;
  const endOfTurnModel = listens && judgesTurnEnds(config) ? await openModel("endOfTurn", env) : undefined;
  const voices = [config, ...definitions.agents.values()].map(({ voice }) => voice);
  const hasPlugins = voices.some(({ listen, speak }) => listen !== undefined || speak !== undefined);
  const providers = chosen ?? (hasPlugins ? NO_PROVIDERS : undefined);
  const speech = providers && { ...providers, endOfTurnModel, usesPlugins: true };
  const warn = warnOnce(logger);
  const warnOfMissing = (prefix: string, { isLast }: { readonly isLast: boolean }) => {
    const known = { config, tools: mcp.tools, prefix, prefixes: mcp.prefixes, isLast };
    warn(patternsWithoutMcpTool(definitions.agents, known));
  };
  const mcp = connectMcpServers({ servers: config.mcpServers, own: ownTools(), logger, onListed: warnOfMissing });
  const { redefineAgents, ...model } = createSessionModel(
    config,
    { apiKey, baseUrl, env, onCall: reporterOf(logger) },
    definitions.agents,
  );
  // A reload is not logged here, because the main process logs what was loaded and what failed to load.
  definitions.onReloaded(() => {
    redefineAgents(definitions.agents);
    mcp.replaceOwn(ownTools());
  });
  const close = async () => {
    await Promise.all([definitions.close(), mcp.close(), speech?.close(), permissionEvents.close(), watching.close()]);
    await sql.end({ timeout: 2 });
  };
  const { telemetry } = watching;
  return {
    config,
    logger,
    sql,
    permissionEvents,
    serverTools: mcp.tools,
    liveTools: mcp,
    ...model,
    hooksOf: (agent) => hooksOf(config, definitions.agents.get(agent)),
    hasEndWebhook: config.webhook !== undefined,
    speech,
    telemetry,
    close,
  };
}

/** Without a provider, sessions can still have plugins. */
const NO_PROVIDERS: Speech = {
  stt: undefined,
  synthesizer: undefined,
  voiceNamed: async () => undefined,
  close: async () => {},
};

/** Reports model calls to the main process. A process with a single session has no connection to it, and logs itself. */
function reporterOf(logger: Logger): (report: ModelCallReport) => void {
  if (isHosted()) return (report) => sendToWorker({ type: "model_call", report });
  const status = new ModelStatus(logger);
  return (report) => status.note(report);
}

function warnOnce(logger: Logger): (problems: readonly string[]) => void {
  const warned = new Set<string>();
  return (problems) => {
    for (const problem of problems) {
      if (warned.has(problem)) continue;
      warned.add(problem);
      logger.warn({ problem }, "name, glob or permission rule matches no MCP tool");
    }
  };
}
