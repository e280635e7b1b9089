import type { ipc, RunningJobInfo } from "@livekit/agents";

/** A job in its pool, from the moment it is passed to the pool until it has ended. */
export interface PooledJob {
  readonly runningJob: RunningJobInfo;
  /** Ends the job, and resolves when it has ended. Never rejects. */
  readonly close: () => Promise<void>;
  /** Resolves when the job has ended. */
  readonly join: () => Promise<void>;
}

/** Runs the jobs of an AgentServer. */
export interface JobPool {
  readonly processes: readonly PooledJob[];
  /** @param inference runs models for jobs in a separate process; absent if there is none */
  readonly start: (inference: ipc.InferenceExecutor | undefined) => void;
  readonly close: () => Promise<void>;
  readonly launchJob: (job: RunningJobInfo) => Promise<void>;
}

interface ProcPool {
  readonly inferenceExecutor?: ipc.InferenceExecutor;
}

const MEMBERS = ["start", "close", "launchJob", "getByJobId", "processes"] as const;

/**
 * Makes every AgentServer that this process creates from now on run its jobs in `pool`. LiveKit runs one process per
 * job and has no option to change that. An AgentServer uses only five members of LiveKit's pool, and these are replaced
 * here. Checked with @livekit/agents 1.9.0.
 *
 * @returns a function that restores LiveKit's own pool, or `undefined` if that pool is not as expected and nothing was
 *   changed
 */
export async function replaceJobPool(pool: JobPool): Promise<(() => void) | undefined> {
  const prototype = await loadPrototype();
  const before = MEMBERS.map((name) => [name, Object.getOwnPropertyDescriptor(prototype ?? {}, name)] as const);
  if (!prototype || !before.every(([, member]) => member?.configurable)) return undefined;
  Object.defineProperties(prototype, {
    start: {
      configurable: true,
      value(this: ProcPool) {
        pool.start(this.inferenceExecutor);
      },
    },
    close: { configurable: true, value: () => pool.close() },
    launchJob: { configurable: true, value: (job: RunningJobInfo) => pool.launchJob(job) },
    getByJobId: {
      configurable: true,
      value: (id: string) => pool.processes.find(({ runningJob }) => runningJob.job.id === id) ?? null,
    },
    processes: { configurable: true, get: () => pool.processes },
  });
  return () => {
    for (const [name, member] of before) if (member) Object.defineProperty(prototype, name, member);
  };
}

async function loadPrototype(): Promise<object | undefined> {
  try {
    const file = new URL("ipc/proc_pool.js", import.meta.resolve("@livekit/agents"));
    const module = (await import(file.href)) as { readonly ProcPool?: { readonly prototype: object } };
    return module.ProcPool?.prototype;
  } catch {
    return undefined;
  }
}
