import type { ipc, RunningJobInfo } from "@livekit/agents";
import type { JobPool, PooledJob } from "../../livekit/job-pool.ts";
import type { Logger } from "../logger.ts";
import { type HandOverOptions, type LostHost, SessionHost } from "./session-host.ts";

interface HostPoolOptions {
  /** Module path of the job entry. */
  readonly agent: string;
  readonly sessionsPerProcess: number;
  readonly startLimitMs: number;
  readonly endLimitMs: number;
  readonly logger: Logger;
  /** A job has been given to a host. */
  readonly onLaunched: (jobId: string) => void;
}

const BASE_LIMIT_MB = 1_024;
const MB_A_SESSION = 16;
const MB = 1_024 * 1_024;
/** The system gets little of a process's memory back: an old or large host is replaced once its sessions have ended. */
const RETIRE_AT_SHARE = 0.6;
const RETIRE_AFTER_MS = 12 * 3_600_000;
const LOOK_EVERY_MS = 5_000;
/** A host's JavaScript that takes more of a core than this answers late. */
const FULL_AT_SHARE = 0.85;
/** A room whose hosts ended so often in that time is served alone. */
const MAX_LOSSES = 2;
const LOSS_WINDOW_MS = 10 * 60_000;
/** More rooms that may have ended a host say nothing: none of them is served alone for it. */
const MAX_SUSPECTS = 3;

/**
 * The session hosts of a worker. Sessions go where the most places are free. One more host than is needed runs while
 * there are sessions, so that those of a host that ends find another one at once; and a room that seems to have ended
 * its host gets one to itself.
 */
export class HostPool implements JobPool {
  readonly #options: HostPoolOptions;
  readonly #hosts = new Set<SessionHost>();
  /** Rooms whose host has ended, with the moments when. */
  readonly #losses = new Map<string, number[]>();
  readonly #aloneUntil = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: HostPoolOptions) {
    this.#options = options;
  }

  get processes(): readonly PooledJob[] {
    return [...this.#hosts].flatMap(({ jobs }) => jobs);
  }

  /** How busy the hosts with sessions are, on the average: 0 to 1. At 1 they can carry no more, whatever is free. */
  get busyShare(): number {
    const serving = [...this.#hosts].filter(({ jobs }) => jobs.length > 0);
    const sum = serving.reduce((total, { busyShare }) => total + busyShare, 0);
    return Math.min(1, sum / Math.max(1, serving.length) / FULL_AT_SHARE);
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#look();
  }

  async launchJob(info: RunningJobInfo, inference: ipc.InferenceExecutor | undefined): Promise<void> {
    if (this.#isClosed) throw new Error("The worker is closing");
    const host = this.#isAlone(info.job.room?.name ?? "") ? this.#addHost(1) : this.#roomiest();
    host.launch(info, inference);
    this.#options.onLaunched(info.job.id);
    await host.ready;
  }

  /** Takes no new sessions, and gives those that it has to other workers. Returns when that is done, or too late. */
  async handOver(options: HandOverOptions): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await Promise.all([...this.#hosts].map((host) => host.handOver(options)));
  }

  /** Ends all sessions, then their hosts. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await Promise.all(this.processes.map((job) => job.close()));
    await Promise.all([...this.#hosts].map((host) => host.close()));
  }

  #roomiest(): SessionHost {
    const [first] = [...this.#shared()].toSorted((a, b) => b.freePlaces - a.freePlaces);
    return first && first.freePlaces > 0 ? first : this.#addHost(this.#options.sessionsPerProcess);
  }

  #shared(): SessionHost[] {
    return [...this.#hosts].filter(({ capacity, isRetired }) => capacity > 1 && !isRetired);
  }

  /** Starts hosts ahead of need, and ends those that are not needed any more. */
  #look(): void {
    if (this.#isClosed) return;
    const now = performance.now();
    for (const host of this.#hosts) {
      const isOld =
        now - host.startedAt > RETIRE_AFTER_MS || host.rssBytes > RETIRE_AT_SHARE * memoryLimit(host.capacity);
      if (isOld && host.jobs.length > 0) host.isRetired = true;
      if (host.jobs.length === 0 && (host.isRetired || host.capacity === 1)) this.#end(host);
    }
    const shared = this.#shared();
    const sessions = shared.reduce((sum, { jobs }) => sum + jobs.length, 0);
    const needed = Math.ceil(sessions / this.#options.sessionsPerProcess) + 1;
    for (let count = shared.length; count < needed; count++) this.#addHost(this.#options.sessionsPerProcess);
    const spare = shared.filter(({ jobs }) => jobs.length === 0);
    for (const host of spare.slice(0, Math.max(0, shared.length - needed))) this.#end(host);
  }

  #addHost(capacity: number): SessionHost {
    const { agent, startLimitMs, endLimitMs, logger } = this.#options;
    const host: SessionHost = new SessionHost({
      agent,
      capacity,
      memoryLimitBytes: memoryLimit(capacity),
      startLimitMs,
      endLimitMs,
      logger,
      onLost: (lost) => this.#onLost(host, lost),
    });
    this.#hosts.add(host);
    return host;
  }

  #end(host: SessionHost): void {
    this.#hosts.delete(host);
    void host.close();
  }

  #onLost(host: SessionHost, { jobs, suspects, wasReady }: LostHost): void {
    this.#hosts.delete(host);
    const now = performance.now();
    const roomsOf = (infos: readonly RunningJobInfo[]) => infos.map(({ job }) => job.room?.name ?? "");
    for (const room of roomsOf(jobs)) {
      const recent = (this.#losses.get(room) ?? []).filter((at) => now - at < LOSS_WINDOW_MS);
      this.#losses.set(room, [...recent, now]);
    }
    for (const [room, times] of this.#losses)
      if (times.every((at) => now - at >= LOSS_WINDOW_MS)) this.#losses.delete(room);
    const repeated = roomsOf(jobs).filter((room) => (this.#losses.get(room)?.length ?? 0) >= MAX_LOSSES);
    const alone = [roomsOf(suspects), repeated].find((rooms) => rooms.length > 0 && rooms.length <= MAX_SUSPECTS) ?? [];
    for (const room of alone) this.#aloneUntil.set(room, now + LOSS_WINDOW_MS);
    this.#options.logger.error({ sessions: jobs.length, alone: alone.length }, "a session host has ended");
    // One that could not even start is tried again later.
    if (wasReady) this.#look();
  }

  #isAlone(room: string): boolean {
    const until = this.#aloneUntil.get(room) ?? 0;
    if (until < performance.now()) this.#aloneUntil.delete(room);
    return this.#aloneUntil.has(room);
  }
}

function memoryLimit(capacity: number): number {
  return (BASE_LIMIT_MB + MB_A_SESSION * (capacity - 1)) * MB;
}
