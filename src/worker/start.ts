import { join } from "node:path";
import { AppError } from "../errors/app-error.ts";
import { type EventSource, openEventSource } from "../http/events/event-source.ts";
import { createHttpServer } from "../http/http-server.ts";
import { readPage } from "../http/page/page-files.ts";
import { openGrpcServer } from "../http/rpc/grpc-server.ts";
import { permissionService } from "../http/rpc/permission-service.ts";
import { tokenAccess } from "../http/routes/token-routes.ts";
import type { Cleanup } from "../lib/cleanup.ts";
import { hooksOf } from "../agent/hooks.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import { toolNamesIn } from "../tool/load-tools.ts";
import { toolPrefix } from "../tool/mcp/to-mcp-tool.ts";
import { findEspeak } from "../voice/providers/espeak/espeak-synthesizer.ts";
import type { PluginFields } from "../voice/plugins/session-speech.ts";
import { missingPlugins, missingSpeech } from "../voice/providers/speech-choice.ts";
import { type AbandonedSessions, createAbandonedSessions } from "./hooks/abandoned-sessions.ts";
import { checkAgents, patternsWithoutTool } from "./settings/check-agents.ts";
import { checkPorts } from "./settings/check-ports.ts";
import type { Config } from "./config.ts";
import { type Definitions, openDefinitions, type ToDev } from "./definitions/definitions.ts";
import { databasePlace, withoutPassword } from "./settings/database-url.ts";
import type { Logger } from "./logger.ts";
import { missingKeys, missingPrices, missingSettings, modelsOf } from "./settings/missing-settings.ts";
import { checkSecrets } from "./settings/public-secrets.ts";
import { startRetention } from "./retention.ts";
import { startAgentsLog } from "../livekit/job-processes.ts";
import { checkOneRtcNode } from "../livekit/one-rtc-node.ts";
import { openLogOutput } from "./terminal/log-output.ts";
import { lockDataFolder } from "./process/pid-file.ts";
import { createReadyChecks } from "./ready-checks.ts";
import { runJobs } from "./dispatch/run-jobs.ts";
import { ModelStatus } from "./telemetry/model-status.ts";
import { jobEnvironment } from "./hosts/job-environment.ts";
import { watchDatabase } from "./dispatch/watch-database.ts";
import { endStalePostgres } from "./services/embedded-postgres.ts";
import { endStaleLivekitServer } from "./services/livekit-server.ts";
import type { MetricsHub } from "./telemetry/metrics-hub.ts";
import { type Endpoints, startServices, type StartOptions } from "./start-services.ts";
import { reportDatabase } from "./settings/report-database.ts";
import { prepareDatabase } from "./wait-for-database.ts";
import { startDelivery } from "./webhooks/deliver-webhooks.ts";

interface StartWorkerOptions extends Pick<StartOptions, "config" | "progress" | "onLost"> {
  readonly isWorkerOnly: boolean;
  /** Whether the scripted model is started if the configuration names no model. */
  readonly hasScripted: boolean;
  readonly logger: Logger;
  /** Collects the metrics of `/metrics`. The caller closes it. */
  readonly hub: MetricsHub;
  readonly telemetry: Telemetry;
  /** Closes everything that was started, in reverse order. */
  readonly cleanup: Pick<Cleanup, "defer" | "disposed">;
  /** How long handovers to other workers may take when this worker stops. 0 means that sessions are not handed over. */
  readonly handOverMs: () => number;
  /** For tests: the module of job processes, instead of src/worker/job/agent.ts. */
  readonly agent?: string;
}

/** The content of the ready line. Contains no keys or passwords. */
export interface Ready {
  readonly livekitUrl: string;
  readonly httpUrl: string;
  /** Absent if GRPC_PORT is not set. */
  readonly grpcUrl?: string;
  readonly databaseUrl: string;
  readonly model: string;
}

/**
 * Starts the parts of the worker in order. Resolves once new rooms get an agent.
 *
 * @throws {AppError} if a setting is missing, or something cannot be started
 */
export async function startWorker(options: StartWorkerOptions): Promise<Ready> {
  const { config, isWorkerOnly, logger, hub, telemetry, progress, cleanup, agent, onLost } = options;
  checkOneRtcNode();
  checkSettings(options);
  const definitions = await openOwnDefinitions(options);
  await tryOwnPlugins(config, definitions);
  await warnWithoutEspeak(options);
  if (!isWorkerOnly) await takeDataFolder(config, cleanup);
  await checkPorts(config, isWorkerOnly);
  const keep: StartOptions["keep"] = (service) => {
    if (cleanup.disposed) void service.close();
    else cleanup.defer(() => service.close());
  };
  const services = await startServices({ config, logger, progress, onLost, keep });
  const { databaseUrl, listenUrl } = await openDatabase(services.databaseUrl, options);
  const endpoints = { ...services, databaseUrl, listenUrl };
  const { livekit } = endpoints;
  const source = openEventSource({ databaseUrl, listenUrl, logger });
  keep(source);
  const { sql } = source;
  const abandonedSessions = abandonedSessionsOf(options, sql, definitions);
  keep(abandonedSessions);
  const { webhook } = config;
  if (webhook?.secret !== undefined)
    keep(startDelivery({ sql, logger, telemetry, receiver: { url: webhook.url, secret: webhook.secret } }));
  const checks = createReadyChecks(endpoints);
  keep(checks);
  const models = new ModelStatus(logger);
  const database = watchDatabase({ ask: checks.askDatabase, logger });
  keep(database);
  const jobs = await runJobs({
    config,
    sql,
    database,
    livekit,
    environment: jobEnvironment({ endpoints, hubUrl: hub.url, reloads: !isWorkerOnly }),
    logger,
    onModelCall: (report) => models.note(report),
    onClosed: abandonedSessions.end,
    onFailed: () => onLost("the worker"),
    ...(agent !== undefined && { agent }),
  });
  keep(jobs);
  const { retention } = config;
  if (retention) keep(startRetention({ ...retention, sql, logger }));
  const served = { livekit, source, checks: [...checks.checks, models.check], definitions, keep };
  const httpUrl = await serveHttp(options, served);
  const grpcUrl = await serveGrpc(options, { ...served, httpUrl });
  // The handover is registered last, so that it is the first thing to be closed: it still needs everything else.
  keep({ close: () => jobs.handOver(options.handOverMs()) });
  await jobs.registered;
  return {
    livekitUrl: livekit.url,
    httpUrl,
    ...(grpcUrl !== undefined && { grpcUrl }),
    // The user name of the embedded PostgreSQL is not secret, and clients need it in addition to the password file.
    databaseUrl: config.databaseUrl ? `postgres://${databasePlace(config.databaseUrl)}` : withoutPassword(databaseUrl),
    model: endpoints.model.name,
  };
}

/** @throws {AppError} if a setting is missing */
function checkSettings({ config, isWorkerOnly, hasScripted, logger }: StartWorkerOptions): void {
  const missing = [
    ...missingSettings(config, isWorkerOnly, hasScripted),
    ...missingSpeech(config.speech),
    ...missingPlugins(config.speech).map(({ name, use }) => `the package ${name} ${use}: npm install ${name}`),
  ];
  if (missing.length > 0) throw new AppError("invalid_config", `Required but not set:\n${missing.join("\n")}`);
  const warning = checkSecrets(config);
  if (warning !== undefined) logger.warn(warning);
}

/** @throws {AppError} if the plugins of the config or of an agent cannot be created */
async function tryOwnPlugins(config: Config, { agents }: Definitions): Promise<void> {
  const voices = new Map<string, PluginFields>([["parley.config.ts", config.voice]]);
  for (const [name, { voice }] of agents) voices.set(`agent ${name}`, voice);
  if (![...voices.values()].some(({ listen, speak }) => listen ?? speak)) return;
  // Without this log, the constructors of some plugins throw.
  startAgentsLog(config.logLevel, openLogOutput(config).write);
  const { tryPlugins } = await import("../voice/plugins/try-plugins.ts");
  for (const [place, voice] of voices) await tryPlugins(place, voice);
}

async function warnWithoutEspeak({ config, progress }: StartWorkerOptions): Promise<void> {
  if (config.speech.tts === "espeak" && !(await findEspeak(process.env)))
    progress(
      "espeak-ng is not installed, neither as a program nor as a package: answers are text only (TTS=none turns this message off)",
    );
}

/** Waits until the database answers, then returns which addresses to use. Stops waiting when the worker stops. */
async function openDatabase(databaseUrl: string, { config, logger, progress, cleanup }: StartWorkerOptions) {
  const stopping = new AbortController();
  cleanup.defer(() => stopping.abort());
  const addresses = { databaseUrl, directUrl: config.databaseDirectUrl };
  const prepared = await prepareDatabase(addresses, { progress, signal: stopping.signal });
  reportDatabase(prepared, addresses, logger);
  return prepared;
}

function abandonedSessionsOf(
  { config, logger, telemetry }: StartWorkerOptions,
  sql: EventSource["sql"],
  definitions: Definitions,
): AbandonedSessions {
  return createAbandonedSessions({
    sql,
    logger,
    telemetry,
    hooksOf: (name) => hooksOf(config, definitions.agents.get(name)),
    hasEndWebhook: config.webhook !== undefined,
  });
}

interface Served {
  readonly livekit: Endpoints["livekit"];
  readonly source: EventSource;
  readonly checks: ReturnType<typeof createReadyChecks>["checks"];
  readonly definitions: Definitions;
  readonly keep: StartOptions["keep"];
}

async function serveHttp(
  { config, logger, hub }: StartWorkerOptions,
  { livekit, source, checks, definitions, keep }: Served,
): Promise<string> {
  const http = createHttpServer({
    logger,
    livekit,
    checks,
    publicUrl: config.livekitPublicUrl ?? livekit.url,
    token: { ...tokenAccess(config), agents: () => definitions.agents.keys() },
    page: readPage(join(import.meta.dirname, "../../web/dist")),
    metrics: hub.render,
    events: {
      source,
      edits: { serverTools: definitions.tools, rules: config.permission.rules },
      permissionWaitMs: config.permission.waitMs,
      budget: config.budget,
    },
  });
  keep({ close: async () => http.close() });
  return http.listen({ host: config.httpHost, port: config.httpPort });
}

/** Returns `undefined` if GRPC_PORT is not set. */
async function serveGrpc(
  { config, logger }: StartWorkerOptions,
  { livekit, source, keep, httpUrl }: Served & { readonly httpUrl: string },
): Promise<string | undefined> {
  const { httpHost: host, grpcPort: port } = config;
  if (port === undefined) return undefined;
  const routes = permissionService({ livekit, sql: source.sql, logger });
  keep(await openGrpcServer({ host, port, livekit, routes }));
  return Object.assign(new URL(httpUrl), { port: String(port) }).origin;
}

/**
 * Loads the definitions in the main process, in addition to those that each job process loads. So an invalid file stops
 * the start, and edited arguments can be checked.
 */
async function openOwnDefinitions({ config, isWorkerOnly, logger, cleanup }: StartWorkerOptions): Promise<Definitions> {
  const reloads = !isWorkerOnly;
  const definitions = await openDefinitions(config, { reloads, logger });
  cleanup.defer(definitions.close);
  const check = async () => {
    const prefixes = Object.keys(config.mcpServers).map(toolPrefix);
    const { agents, tools } = definitions;
    const known = { config, prefixes, tools, namesInFolder: await toolNamesIn(config.toolsFolder) };
    checkAgents(agents, known);
    const models = [...agents.values()].flatMap(modelsOf);
    const lacking = [
      ...missingPrices(
        config,
        models.map(({ name }) => name),
      ),
      ...missingKeys([...modelsOf(config), ...models], process.env),
    ];
    if (lacking.length > 0) throw new AppError("invalid_config", `Required but not set:\n${lacking.join("\n")}`);
    for (const problem of patternsWithoutTool(agents, known)) {
      logger.warn({ problem }, "glob or permission rule matches no server tool");
    }
  };
  await check();
  if (reloads) process.send?.({ reloads: [config.toolsFolder, config.agentsFolder] } satisfies ToDev);
  definitions.onReloaded(({ files, problems }) => {
    if (problems.length === 0) logger.info({ files }, "changed files loaded");
    else logger.error({ files, why: problems }, "loading changed files failed, keeping the previous versions");
    check().catch((error: unknown) => {
      logger.error({ why: String(error) }, "agents do not match the tools or the config");
    });
  });
  return definitions;
}

async function takeDataFolder(config: Config, cleanup: Pick<Cleanup, "defer">): Promise<void> {
  const lock = await lockDataFolder(config.dataDir);
  cleanup.defer(lock.release);
  await Promise.all([endStaleLivekitServer(config.dataDir), endStalePostgres(config.dataDir)]);
}
