import { initializeLogger, type AgentServer } from "@livekit/agents";

const JOB_SEMI_SPACE_MB = 4;

/**
 * `new AgentServer` throws before its log is there. LiveKit's own command line makes that log, by a function that it
 * exports and calls internal. Checked with @livekit/agents 1.9.0.
 */
export function startAgentsLog(level: string): void {
  initializeLogger({ pretty: false, level });
}

/**
 * Gives job processes options of Node, for which LiveKit has no option of its own: it forks them with none, so that they
 * have what `process.execArgv` holds then. Checked with @livekit/agents 1.9.0.
 */
export function setJobArguments(): void {
  const guard = new URL("stdout-guard.ts", import.meta.url).href;
  if (process.execArgv.includes(guard)) return;
  // A session waits more than it computes: it does not need V8's 48 MB for what is young.
  process.execArgv.push("--import", guard, `--max-semi-space-size=${JOB_SEMI_SPACE_MB}`);
}

/** Whether a process of this command line is one of LiveKit's: a job, or its inference. Checked with @livekit/agents 1.9.0. */
export function isAgentsProcess(command: string): boolean {
  return command.includes("_proc_lazy_main");
}

/**
 * From when on LiveKit speaks of an event loop that stood still, here and in job processes, unless the environment says
 * so already. It reads two variables itself, of which its documentation says nothing. Checked with @livekit/agents 1.9.0.
 */
export function setLoopLimits(milliseconds: string): void {
  if (process.env["LIVEKIT_AGENTS_LOOP_BLOCK_WARN_MS"]) return;
  process.env["LIVEKIT_AGENTS_LOOP_BLOCK_WARN_MS"] = milliseconds;
  process.env["LIVEKIT_AGENTS_LOOP_BLOCK_ERROR_MS"] = milliseconds;
}

/** Calls back each time that LiveKit has taken the worker: the only word of it is an event. Checked with @livekit/agents 1.9.0. */
export function onRegistered(server: AgentServer, listener: () => void): void {
  server.event.on("worker_registered", listener);
}

/** LiveKit's list has a job only while a process of it lives: from its start, not from our yes. Checked with @livekit/agents 1.9.0. */
export function runningJobIds(server: AgentServer): ReadonlySet<string> {
  return new Set(server.activeJobs.map(({ job }) => job.id));
}
