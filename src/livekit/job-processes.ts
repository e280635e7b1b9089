import { initializeLogger, type AgentServer } from "@livekit/agents";
import { isRecord } from "../lib/json.ts";
import { siblingModuleUrl } from "../lib/sibling-module-url.ts";

/**
 * Node options of a process that serves one session. A session mostly waits, so it does not need V8's default of 48 MB
 * for young objects.
 */
const JOB_YOUNG_SPACE = ["--max-semi-space-size=4"];
/**
 * Node options of a host process, which runs turns of many sessions at once. With less memory for young objects, a
 * turn's objects would be promoted to the old generation before the turn has ended.
 */
const HOST_YOUNG_SPACE = ["--min-semi-space-size=16", "--max-semi-space-size=16"];

/**
 * Initializes LiveKit's logger, without which `new AgentServer` throws. LiveKit's command line calls the same exported
 * but internal function. At "info", LiveKit logs a line for every step of a job, so "info" becomes "warn"; Parley's own
 * log has one line per job. LiveKit's logger keeps the `process.stdout` that it finds now. Checked with
 * @livekit/agents 1.9.0.
 *
 * @param write receives LiveKit's lines, as JSON
 * @returns the level of LiveKit's log
 */
export function startAgentsLog(logLevel: string, write: (line: string) => void): string {
  const level = logLevel === "info" ? "warn" : logLevel;
  const stdout = Object.getOwnPropertyDescriptor(process, "stdout");
  const lines = { write: (line: string) => write(withShortRetry(line)) };
  Object.defineProperty(process, "stdout", { configurable: true, get: () => lines });
  try {
    initializeLogger({ pretty: false, level });
  } finally {
    if (stdout) Object.defineProperty(process, "stdout", stdout);
  }
  return level;
}

/**
 * Shortens LiveKit's line about a failed connection. It contains the same stack at each retry, and the maximum number
 * of retries, which is practically infinite.
 */
function withShortRetry(line: string): string {
  const { retry_count: retries, max_retry: _, error, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  if (typeof retries !== "number") return line;
  const why = isRecord(error) ? error["message"] : error;
  const short = String(msg).replace(/: \(\d+\/\d+\)$/u, `, attempt ${retries}`);
  return `${JSON.stringify({ ...fields, why, msg: short })}\n`;
}

/**
 * Sets the Node options of job processes. LiveKit has no setting for them: a job process inherits `process.execArgv` as
 * it is when the process is forked. Checked with @livekit/agents 1.9.0.
 *
 * @param areHosts whether each process serves many sessions
 */
export function setJobArguments({ areHosts }: { readonly areHosts: boolean }): void {
  const guard = siblingModuleUrl(import.meta.url, "stdout-guard").href;
  if (process.execArgv.includes(guard)) return;
  process.execArgv.push("--import", guard, ...(areHosts ? HOST_YOUNG_SPACE : JOB_YOUNG_SPACE));
}

/** Whether this is the command line of a job process or the inference process. Checked with @livekit/agents 1.9.0. */
export function isAgentsProcess(command: string): boolean {
  return command.includes("_proc_lazy_main");
}

/**
 * Sets how long the event loop of this process or of a job process may be blocked before LiveKit logs a warning. Values
 * already set in the environment take precedence. LiveKit does not document these two variables. Checked with
 * @livekit/agents 1.9.0.
 */
export function setLoopLimits(milliseconds: string): void {
  if (process.env["LIVEKIT_AGENTS_LOOP_BLOCK_WARN_MS"]) return;
  process.env["LIVEKIT_AGENTS_LOOP_BLOCK_WARN_MS"] = milliseconds;
  process.env["LIVEKIT_AGENTS_LOOP_BLOCK_ERROR_MS"] = milliseconds;
}

/** Calls `listener` each time the worker has registered with LiveKit. Checked with @livekit/agents 1.9.0. */
export function onRegistered(server: AgentServer, listener: () => void): void {
  server.event.on("worker_registered", listener);
}

/**
 * Returns the ids of the jobs whose process is running. Excludes jobs that have yet to start. Checked with
 * @livekit/agents 1.9.0.
 */
export function runningJobIds(server: AgentServer): ReadonlySet<string> {
  return new Set(server.activeJobs.map(({ job }) => job.id));
}
