import type { ipc, RunningJobInfo } from "@livekit/agents";
import type { JobPool, PooledJob } from "../../livekit/job-pool.ts";
import type { Logger } from "../logger.ts";
import { type HandOverOptions, type LostHost, SessionHost, type SessionHostOptions } from "./session-host.ts";

interface HostPoolOptions {
  /** The path of the module that a job process runs. */
  readonly agent: string;
  /** The environment of the host processes. */
  readonly environment: NodeJS.ProcessEnv;
  readonly sessionsPerProcess: number;
  readonly startLimitMs: number;
  readonly endLimitMs: number;
  readonly logger: Logger;
  /** Called when a job has been passed to a host process. */
  readonly onLaunched: (jobId: string) => void;
  readonly onModelCall: SessionHostOptions["onModelCall"];
  /** @defaultValue forks a process */
  readonly startHost?: (options: SessionHostOptions) => PoolHost;
}

/** The public members of a host. Tests of the pool implement them without a process. */
export type PoolHost = Pick<SessionHost, keyof SessionHost>;

const BASE_LIMIT_MB = 1_024;
const MB_A_SESSION = 16;
const MB = 1_024 * 1_024;
/**
 * The share of its memory limit above which a host retires: it gets no new sessions and exits after its last one,
 * because a process frees little of its memory. A host older than `RETIRE_AFTER_MS` retires too.
 */
const RETIRE_AT_SHARE = 0.6;
const RETIRE_AFTER_MS = 12 * 3_600_000;
const CHECK_EVERY_MS = 5_000;
/** The share of a core at which a host counts as full. If its JavaScript uses more, the host answers late. */
const FULL_AT_SHARE = 0.85;
/** The share of a core up to which a host with sessions gets new sessions before the spare host does. */
const SPARE_FROM_SHARE = 0.5;
/** How many times within `LOSS_WINDOW_MS` a room loses its host before it is isolated from other rooms. */
const MAX_LOSSES = 2;
const LOSS_WINDOW_MS = 10 * 60_000;
/**
 * How many suspect rooms are isolated after a single loss at most. If there are more, one loss does not show which of
 * them caused it.
 */
const MAX_SUSPECTS = 3;
/**
 * The number of hosts among which suspect rooms are divided. With 50 rooms, each suspect has its own host after the
 * next loss.
 */
const GROUPS = 8;

/** Rooms that share a host isolated from all other rooms, because one of them may make the host exit. */
interface Group {
  readonly size: number;
  readonly until: number;
}

/**
 * The host processes of a worker. A spare host is kept running, so that sessions of a host that exits can move to it
 * right away. A new session goes to the host with the most free slots, and to the spare host only if the others are
 * busy. A room that seems to have caused its host's exit gets its own host. If it is unclear which room was the cause,
 * the rooms are divided among several hosts until the cause is found.
 */
export class HostPool implements JobPool {
  readonly #options: HostPoolOptions;
  readonly #hosts = new Set<PoolHost>();
  /** The times at which a room lost its host, by room name. */
  readonly #losses = new Map<string, number[]>();
  readonly #apart = new Map<string, Group>();
  readonly #groupHosts = new Map<Group, PoolHost>();
  #inference: ipc.InferenceExecutor | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: HostPoolOptions) {
    this.#options = options;
  }

  get processes(): readonly PooledJob[] {
    return [...this.#hosts].flatMap(({ jobs }) => jobs);
  }

  /** The average load of the hosts with sessions, 0 to 1. At 1 they accept no more sessions, even with free slots. */
  get busyShare(): number {
    const serving = [...this.#hosts].filter(({ jobs }) => jobs.length > 0);
    const sum = serving.reduce((total, { busyShare }) => total + busyShare, 0);
    return Math.min(1, sum / Math.max(1, serving.length) / FULL_AT_SHARE);
  }

  start(inference?: ipc.InferenceExecutor): void {
    this.#inference = inference;
    this.#timer = setInterval(() => this.#check(), CHECK_EVERY_MS);
    this.#check();
  }

  async launchJob(info: RunningJobInfo): Promise<void> {
    if (this.#isClosed) throw new Error("The worker is closing");
    const group = this.#groupOf(info.job.room?.name ?? "");
    const host = group ? this.#hostOfGroup(group) : this.#roomiest();
    host.launch(info, this.#inference);
    this.#options.onLaunched(info.job.id);
    await host.ready;
  }

  /**
   * Stops accepting sessions, and hands the pool's sessions over to other workers. Resolves when done, or after
   * `withinMs`.
   */
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

  #roomiest(): PoolHost {
    const open = this.#shared()
      .filter(({ freeSlots }) => freeSlots > 0)
      .toSorted((a, b) => b.freeSlots - a.freeSlots);
    const used = open.find(({ jobs, busyShare }) => jobs.length > 0 && busyShare < SPARE_FROM_SHARE);
    return used ?? open[0] ?? this.#addHost(this.#options.sessionsPerProcess);
  }

  #hostOfGroup(group: Group): PoolHost {
    const known = this.#groupHosts.get(group);
    if (known && known.freeSlots > 0) return known;
    const host = this.#addHost(group.size);
    this.#groupHosts.set(group, host);
    return host;
  }

  #isApart(host: PoolHost): boolean {
    return [...this.#groupHosts.values()].includes(host);
  }

  #shared(): PoolHost[] {
    return [...this.#hosts].filter((host) => !host.isRetired && !this.#isApart(host));
  }

  /** Starts hosts ahead of need, and ends those that are no longer needed. */
  #check(): void {
    if (this.#isClosed) return;
    const now = performance.now();
    for (const host of this.#hosts) {
      const isOld =
        now - host.startedAt > RETIRE_AFTER_MS || host.rssBytes > RETIRE_AT_SHARE * memoryLimitOf(host.capacity);
      if (isOld && host.jobs.length > 0) host.isRetired = true;
      if (host.jobs.length === 0 && (host.isRetired || this.#isApart(host))) this.#end(host);
    }
    const shared = this.#shared();
    const sessions = shared.reduce((sum, { jobs }) => sum + jobs.length, 0);
    const needed = Math.ceil(sessions / this.#options.sessionsPerProcess) + 1;
    for (let count = shared.length; count < needed; count++) this.#addHost(this.#options.sessionsPerProcess);
    const spare = shared.filter(({ jobs }) => jobs.length === 0);
    for (const host of spare.slice(0, Math.max(0, shared.length - needed))) this.#end(host);
  }

  #addHost(capacity: number): PoolHost {
    const { agent, environment, startLimitMs, endLimitMs, logger, onModelCall, startHost = forkHost } = this.#options;
    const host = startHost({
      agent,
      environment,
      capacity,
      memoryLimitBytes: memoryLimitOf(capacity),
      startLimitMs,
      endLimitMs,
      logger,
      onModelCall,
      onLost: (lost) => this.#onLost(host, lost),
    });
    this.#hosts.add(host);
    return host;
  }

  #end(host: PoolHost): void {
    this.#forget(host);
    void host.close();
  }

  #forget(host: PoolHost): void {
    this.#hosts.delete(host);
    for (const [group, own] of this.#groupHosts) if (own === host) this.#groupHosts.delete(group);
  }

  #onLost(host: PoolHost, { jobs, suspects, wasReady }: LostHost): void {
    this.#forget(host);
    const now = performance.now();
    const roomsOf = (infos: readonly RunningJobInfo[]) => infos.map(({ job }) => job.room?.name ?? "");
    for (const room of roomsOf(jobs)) {
      const recent = (this.#losses.get(room) ?? []).filter((at) => now - at < LOSS_WINDOW_MS);
      this.#losses.set(room, [...recent, now]);
    }
    for (const [room, times] of this.#losses)
      if (times.every((at) => now - at >= LOSS_WINDOW_MS)) this.#losses.delete(room);
    const repeated = roomsOf(jobs).filter((room) => (this.#losses.get(room)?.length ?? 0) >= MAX_LOSSES);
    const isFew = (rooms: readonly string[]) => rooms.length > 0 && rooms.length <= MAX_SUSPECTS;
    const apart = isFew(roomsOf(suspects)) ? roomsOf(suspects) : repeated;
    this.#divide(apart, now + LOSS_WINDOW_MS);
    this.#options.logger.error({ sessions: jobs.length, apart: apart.length }, "host process exited");
    // A host that failed to start is replaced at the next regular check, not right away.
    if (wasReady) this.#check();
  }

  /** Divides these rooms into at most `GROUPS` groups, each with a host isolated from all other rooms. */
  #divide(rooms: readonly string[], until: number): void {
    for (let index = 0; index < GROUPS; index++) {
      const own = rooms.filter((_, place) => place % GROUPS === index);
      const group = { size: own.length, until };
      for (const room of own) this.#apart.set(room, group);
    }
  }

  #groupOf(room: string): Group | undefined {
    const group = this.#apart.get(room);
    if (group && group.until >= performance.now()) return group;
    this.#apart.delete(room);
    return undefined;
  }
}

/** Returns the memory limit of a host, in bytes. */
function memoryLimitOf(capacity: number): number {
  return (BASE_LIMIT_MB + MB_A_SESSION * (capacity - 1)) * MB;
}

function forkHost(options: SessionHostOptions): PoolHost {
  return new SessionHost(options);
}
