import { initializeLogger, type AgentServer } from "@livekit/agents";
import { moduleBeside } from "../lib/module-beside.ts";

/** A session mostly waits: it does not need V8's 48 MB for young objects. */
const JOB_YOUNG_SPACE = ["--max-semi-space-size=4"];
/** In a host the turns of many sessions go on at once: what a turn needs must not count as old before the turn is over. */
const HOST_YOUNG_SPACE = ["--min-semi-space-size=16", "--max-semi-space-size=16"];

/**
 * `new AgentServer` throws before its log is there. LiveKit's own command line makes that log, by a function that it
 * exports and calls internal. Its "info" is a line for every step of a job; ours says the same in one.
 * Checked with @livekit/agents 1.9.0.
 *
 * @returns the level of LiveKit's log
 */
export function startAgentsLog(logLevel: string): string {
  const level = logLevel === "info" ? "warn" : logLevel;
  initializeLogger({ pretty: false, level });
  return level;
}

/**
 * Sets the Node options of job processes. LiveKit has no setting for them: a job process gets what `process.execArgv`
 * holds when it is forked. Checked with @livekit/agents 1.9.0.
 *
 * @param areHosts whether such a process serves many sessions
 */
export function setJobArguments({ areHosts }: { readonly areHosts: boolean }): void {
  const guard = moduleBeside(import.meta.url, "stdout-guard").href;
  if (process.execArgv.includes(guard)) return;
  process.execArgv.push("--import", guard, ...(areHosts ? HOST_YOUNG_SPACE : JOB_YOUNG_SPACE));
}

/** Whether this command line is a job's or the inference process's. Checked with @livekit/agents 1.9.0. */
export function isAgentsProcess(command: string): boolean {
  return command.includes("_proc_lazy_main");
}

/**
 * Sets how long an event loop, here or in a job process, may be blocked before LiveKit reports it; an environment that
 * sets it already wins. LiveKit does not document these two variables. Checked with @livekit/agents 1.9.0.
 */
export function setLoopLimits(milliseconds: string): void {
  if (process.env["LIVEKIT_AGENTS_LOOP_BLOCK_WARN_MS"]) return;
  process.env["LIVEKIT_AGENTS_LOOP_BLOCK_WARN_MS"] = milliseconds;
  process.env["LIVEKIT_AGENTS_LOOP_BLOCK_ERROR_MS"] = milliseconds;
}

/** Calls back each time the worker has registered with LiveKit. Checked with @livekit/agents 1.9.0. */
export function onRegistered(server: AgentServer, listener: () => void): void {
  server.event.on("worker_registered", listener);
}

/** Ids of the jobs whose process lives, not of those still to start. Checked with @livekit/agents 1.9.0. */
export function runningJobIds(server: AgentServer): ReadonlySet<string> {
  return new Set(server.activeJobs.map(({ job }) => job.id));
}
