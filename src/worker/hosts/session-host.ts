import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ipc, RunningJobInfo } from "@livekit/agents";
import { siblingModuleUrl } from "../../lib/sibling-module-url.ts";
import type { ModelCallReport } from "../../llm/watch-model.ts";
import type { PooledJob } from "../../livekit/job-pool.ts";
import type { Logger } from "../logger.ts";
import { HostHealth } from "./host-health.ts";
import { type FromHost, HOSTED, type ToHost, toSentJob } from "../job/host-messages.ts";

export interface SessionHostOptions {
  /** The path of the module that a job process runs. */
  readonly agent: string;
  readonly environment: NodeJS.ProcessEnv;
  /** The maximum number of sessions. */
  readonly capacity: number;
  readonly memoryLimitBytes: number;
  readonly startLimitMs: number;
  /** How long a job may take to end once it has been asked to. */
  readonly endLimitMs: number;
  readonly logger: Logger;
  readonly onModelCall: (report: ModelCallReport) => void;
  /** Called when the process has exited on its own, or was killed because it stalled or exceeded its memory limit. */
  readonly onLost: (lost: LostHost) => void;
}

export interface LostHost {
  /** The jobs that were running in the process. */
  readonly jobs: readonly RunningJobInfo[];
  /** The jobs that may have caused the exit: the job that threw or, if none did, all jobs with a running tool. */
  readonly suspects: readonly RunningJobInfo[];
  readonly wasReady: boolean;
}

const CLOSE_MS = 3_000;
/** How long the release of a session that reached no pause may take, in addition to the handover's own limit. */
const RELEASE_MS = 1_000;

interface HostedJob extends PooledJob {
  /** Whether the host process was asked to start the job. */
  isStarted: boolean;
  /** Whether a server tool is running for the job. */
  isBusy: boolean;
  /** Called when the session pauses during a handover. */
  onPause?: () => void;
  readonly end: () => void;
}

export interface HandOverOptions {
  readonly withinMs: number;
  /** Requests another agent for the room. */
  readonly requestAgent: (room: string) => Promise<unknown>;
}

const ENTRY = fileURLToPath(siblingModuleUrl(import.meta.url, "host-main"));

/** Whether this is the command line of a host process. */
export function isHostProcess(command: string): boolean {
  return command.includes(ENTRY);
}

/** A host process, which serves many sessions, as seen by the main process. */
export class SessionHost {
  readonly ready: Promise<void>;
  readonly capacity: number;
  readonly startedAt = performance.now();
  /** Whether the host no longer accepts sessions. */
  isRetired = false;
  readonly #options: SessionHostOptions;
  readonly #process: ChildProcess;
  readonly #jobs = new Map<string, HostedJob>();
  readonly #begun = Promise.withResolvers<void>();
  readonly #exited: Promise<unknown>;
  #poisonedBy: string | undefined;
  #inference: ipc.InferenceExecutor | undefined;
  #isClosing = false;
  /** `undefined` until the host process is ready. */
  #health: HostHealth | undefined;

  constructor(options: SessionHostOptions) {
    this.#options = options;
    this.capacity = options.capacity;
    this.#process = fork(ENTRY, [options.agent], {
      serialization: "advanced",
      env: { ...options.environment, [HOSTED]: "1" },
    });
    this.#exited = once(this.#process, "exit");
    this.#process.on("error", () => {});
    this.#process.on("message", (message: FromHost) => this.#handle(message));
    this.ready = this.#whenReady();
    this.ready.catch(() => {});
    void this.#exited.then(() => this.#onExit());
  }

  get jobs(): readonly PooledJob[] {
    return [...this.#jobs.values()];
  }

  /** Hands all sessions over to other workers. Resolves when that is done, or on timeout. */
  async handOver(options: HandOverOptions): Promise<void> {
    this.isRetired = true;
    await Promise.all([...this.#jobs.values()].map((job) => this.#handOverJob(job, options)));
  }

  /** See `BusyShare`. 0 until the host process is ready. */
  get busyShare(): number {
    return this.#health?.busyShare ?? 0;
  }

  /** The memory that the host process last reported; 0 before its first answer. */
  get rssBytes(): number {
    return this.#health?.rssBytes ?? 0;
  }

  get freeSlots(): number {
    return this.isRetired ? 0 : this.capacity - this.#jobs.size;
  }

  /** Occupies a slot immediately. The job starts once the host process is ready. */
  launch(info: RunningJobInfo, inference: ipc.InferenceExecutor | undefined): void {
    const { id } = info.job;
    const over = Promise.withResolvers<void>();
    this.#inference = inference;
    const job: HostedJob = {
      runningJob: info,
      isStarted: false,
      isBusy: false,
      end: () => {
        this.#jobs.delete(id);
        over.resolve();
      },
      join: () => over.promise,
      close: () => this.#endJob(job),
    };
    this.#jobs.set(id, job);
    const start = () => {
      if (!this.#jobs.has(id)) return;
      job.isStarted = true;
      this.#send({ type: "start", job: toSentJob(info) });
    };
    void this.ready.then(start, () => {});
  }

  /** Resolves when the process has exited. Jobs that are still running end with the process. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.isRetired = true;
    this.#send({ type: "close" });
    const late = setTimeout(() => this.#process.kill("SIGKILL"), CLOSE_MS);
    await this.#exited;
    clearTimeout(late);
  }

  async #endJob(job: HostedJob): Promise<void> {
    const { id: jobId } = job.runningJob.job;
    if (!job.isStarted) return job.end();
    this.#send({ type: "end", jobId, reason: "shutdown request" });
    await endWithin(job, this.#options.endLimitMs);
    if (!this.#jobs.has(jobId)) return;
    this.#options.logger.error({ jobId }, "session end timed out, host process retired");
    this.isRetired = true;
    job.end();
  }

  async #handOverJob(job: HostedJob, { withinMs, requestAgent }: HandOverOptions): Promise<void> {
    const { id: jobId, room } = job.runningJob.job;
    if (!job.isStarted) return job.end();
    job.onPause = () => {
      requestAgent(room?.name ?? "").catch((error: unknown) => {
        this.#options.logger.warn({ jobId, error }, "requesting agent for handover failed");
      });
    };
    this.#send({ type: "hand_over", jobId, withinMs });
    await endWithin(job, withinMs + RELEASE_MS);
  }

  async #whenReady(): Promise<void> {
    const { startLimitMs, memoryLimitBytes, logger } = this.#options;
    const late = setTimeout(() => {
      logger.error({ startLimitMs }, "host process start timed out, killed");
      this.#process.kill("SIGKILL");
    }, startLimitMs);
    void this.#exited.then(() => this.#begun.reject(new Error("The host process exited during startup")));
    try {
      await this.#begun.promise;
    } finally {
      clearTimeout(late);
    }
    this.#health = new HostHealth({
      pid: Number(this.#process.pid),
      memoryLimitBytes,
      ping: () => this.#send({ type: "ping" }),
      isToolRunning: () => [...this.#jobs.values()].some(({ isBusy }) => isBusy),
      onUnhealthy: () => {
        this.isRetired = true;
        this.#process.kill("SIGKILL");
      },
      logger,
    });
  }

  #handle(message: FromHost): void {
    switch (message.type) {
      case "pong":
        this.#health?.pong(message.rssBytes);
        break;
      case "busy": {
        const job = this.#jobs.get(message.jobId);
        if (job) job.isBusy = message.isBusy;
        break;
      }
      case "paused":
        this.#jobs.get(message.jobId)?.onPause?.();
        break;
      case "ended":
        this.#jobs.get(message.jobId)?.end();
        break;
      case "poisoned":
        this.#poisonedBy = message.jobId;
        break;
      case "model_call":
        this.#options.onModelCall(message.report);
        break;
      case "infer":
        void this.#infer(message);
        break;
      case "ready":
        this.#begun.resolve();
    }
  }

  async #infer({ requestId, method, data }: Extract<FromHost, { type: "infer" }>): Promise<void> {
    try {
      if (!this.#inference) throw new Error("There is no inference process");
      this.#send({ type: "inferred", requestId, data: await this.#inference.doInference(method, data) });
    } catch (error) {
      this.#send({ type: "inferred", requestId, error: error instanceof Error ? error.message : String(error) });
    }
  }

  #onExit(): void {
    this.#health?.close();
    this.isRetired = true;
    const jobs = [...this.#jobs.values()];
    const poison = this.#poisonedBy;
    const suspects = jobs.filter(({ isBusy, runningJob }) =>
      poison === undefined ? isBusy : runningJob.job.id === poison,
    );
    for (const job of jobs) job.end();
    const infoOf = ({ runningJob }: HostedJob) => runningJob;
    if (!this.#isClosing)
      this.#options.onLost({
        jobs: jobs.map(infoOf),
        suspects: suspects.map(infoOf),
        wasReady: this.#health !== undefined,
      });
  }

  #send(message: ToHost): void {
    if (this.#process.connected) this.#process.send(message, undefined, undefined, () => {});
  }
}

/** Resolves when the job has ended, or after `ms`. */
async function endWithin(job: PooledJob, ms: number): Promise<void> {
  await Promise.race([job.join(), once(AbortSignal.timeout(ms), "abort")]);
}
