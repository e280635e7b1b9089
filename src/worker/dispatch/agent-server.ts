import { AgentServer, type JobRequest, ServerOptions } from "@livekit/agents";
import { fileURLToPath } from "node:url";
import { siblingModuleUrl } from "../../lib/sibling-module-url.ts";
import { JOINING_ATTRIBUTES } from "../../protocol/attributes.ts";
import { agentIdentity } from "../../protocol/conversation-id.ts";
import type { ModelCallReport } from "../../llm/watch-model.ts";
import { AcceptedJobs } from "./accepted-jobs.ts";
import type { Config } from "../config.ts";
import { HOOK_LIMIT_MS } from "../hooks/call-hook.ts";
import { HostPool } from "../hosts/host-pool.ts";
import { becomeJobEnvironment } from "../hosts/job-environment.ts";
import type { Logger } from "../logger.ts";
import { VARIABLES } from "../settings/environment.ts";
import { openLogOutput } from "../terminal/log-output.ts";
import { setJobArguments, setLoopLimits, startAgentsLog } from "../../livekit/job-processes.ts";
import { replaceJobPool } from "../../livekit/job-pool.ts";
import { keepInferenceProcessOff } from "../../livekit/no-inference-process.ts";

/** How long after it was last full the worker rejects newer rooms while older ones are still waiting for an agent. */
const YIELD_MS = 30_000;
/**
 * The load of a full worker. LiveKit offers no rooms to a worker whose load has reached `target_load`, which is 0.7.
 */
const FULL_LOAD = 0.7;
/**
 * How long a job process may take to start. It usually takes two seconds; on a busy machine it may take much longer.
 */
const JOB_START_LIMIT_MS = 30_000;
/** How long a job that is shutting down may take to store its unfinished turns. */
const JOB_SETTLE_MS = 4_000;
const JOB_MEMORY_WARN_MB = 400;
const JOB_MEMORY_LIMIT_MB = 1_024;

interface AgentServerOptions {
  readonly config: Pick<
    Config,
    | "maxSessions"
    | "sessionsPerProcess"
    | "workerPort"
    | "httpHost"
    | "logLevel"
    | "logFormat"
    | "isDevelopment"
    | "speech"
    | "voice"
    | "livekitAgentName"
  >;
  readonly livekit: { readonly url: string; readonly apiKey: string; readonly apiSecret: string };
  /** The environment of the processes that serve sessions. */
  readonly environment: NodeJS.ProcessEnv;
  readonly logger: Logger;
  /**
   * `isUnavailable` is true while the database cannot be reached. The worker then rejects rooms, because it could not
   * open a session.
   */
  readonly database: { readonly isUnavailable: boolean };
  /** Called with the result of each model call in a host process. */
  readonly onModelCall: (report: ModelCallReport) => void;
  /** The path of the module that a job process runs. */
  readonly agent?: string;
  /**
   * Whether a room must wait because older rooms are waiting for an agent. Called only within `YIELD_MS` after all
   * slots were taken.
   */
  readonly mustWait: (room: { readonly creationTime: bigint }) => Promise<boolean>;
  /** Whether the worker is about to stop and accepts no rooms. */
  readonly isDraining: () => boolean;
}

/**
 * Creates LiveKit's worker without running it. The load is the share of slots taken, because sessions mostly wait and
 * use no CPU. If the host processes' share of a core is larger, that share is the load.
 */
export async function createAgentServer(options: AgentServerOptions) {
  const { config, livekit, environment, database, agent = jobEntry() } = options;
  const level = startAgentsLog(config.logLevel, openLogOutput(config).write);
  keepInferenceProcessOff();
  setLoopLimits(VARIABLES.LIVEKIT_AGENTS_LOOP_BLOCK_WARN_MS.fallback);
  const accepted = new AcceptedJobs(config.maxSessions);
  const pool = config.sessionsPerProcess > 1 ? await createPool(options, { agent, accepted }) : undefined;
  if (!pool) becomeJobEnvironment(environment);
  setJobArguments({ areHosts: pool !== undefined });
  const serverOptions = new ServerOptions({
    agent,
    wsURL: livekit.url,
    apiKey: livekit.apiKey,
    apiSecret: livekit.apiSecret,
    agentName: config.livekitAgentName ?? "",
    host: config.httpHost,
    port: config.workerPort,
    logLevel: level,
    production: true,
    numIdleProcesses: 1,
    loadThreshold: FULL_LOAD,
    loadFunc: async () => {
      const share = Math.max(accepted.size / config.maxSessions, pool?.busyShare ?? 0);
      return (database.isUnavailable ? 1 : Math.min(1, share)) * FULL_LOAD;
    },
    requestFunc: (request) => answerOffer(request, accepted, options),
    initializeProcessTimeout: JOB_START_LIMIT_MS,
    shutdownProcessTimeout: JOB_SETTLE_MS,
    // Applies to job processes, which run a single job each. Includes the time for the session-end hook.
    sessionEndTimeout: JOB_SETTLE_MS + HOOK_LIMIT_MS,
    jobMemoryWarnMB: JOB_MEMORY_WARN_MB,
    jobMemoryLimitMB: JOB_MEMORY_LIMIT_MB,
    // A long LiveKit outage must not stop the worker: /ready reports the outage, and the worker reconnects.
    maxRetry: Number.MAX_SAFE_INTEGER,
  });
  return { server: new AgentServer(serverOptions), accepted, pool };
}

/** Accepts the job that LiveKit offers, or rejects it, so that LiveKit offers it to another worker. */
async function answerOffer(
  request: JobRequest,
  accepted: AcceptedJobs,
  { database, mustWait, isDraining }: AgentServerOptions,
): Promise<void> {
  const { id, room } = request;
  const isSecond =
    !database.isUnavailable && room !== undefined && accepted.wasFullWithin(YIELD_MS) && (await mustWait(room));
  // LiveKit may still offer a job to a full worker, because the load that it received is outdated.
  if (isSecond || accepted.isFull || database.isUnavailable || isDraining()) return request.reject();
  accepted.add({ id, room: room?.name ?? "", identity: agentIdentity(id) });
  await request.accept("", "", "", { ...JOINING_ATTRIBUTES });
}

function jobEntry(): string {
  return fileURLToPath(siblingModuleUrl(import.meta.url, "../job/agent"));
}

interface PoolParts {
  readonly agent: string;
  readonly accepted: AcceptedJobs;
}

/** Returns `undefined` if this release of @livekit/agents can only start one process per job. */
async function createPool(
  { config, environment, logger, onModelCall }: AgentServerOptions,
  { agent, accepted }: PoolParts,
): Promise<HostPool | undefined> {
  const pool = new HostPool({
    agent,
    environment,
    sessionsPerProcess: config.sessionsPerProcess,
    startLimitMs: JOB_START_LIMIT_MS,
    endLimitMs: 2 * JOB_SETTLE_MS,
    logger,
    onLaunched: (jobId) => accepted.markLaunched(jobId),
    onModelCall,
  });
  if (await replaceJobPool(pool)) return pool;
  logger.warn("this @livekit/agents release cannot share processes, running one session per process");
  return undefined;
}
