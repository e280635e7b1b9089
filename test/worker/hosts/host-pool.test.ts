import { Job } from "@livekit/protocol";
import type { RunningJobInfo } from "@livekit/agents";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import type { PooledJob } from "../../../src/livekit/job-pool.ts";
import { HostPool, type PoolHost } from "../../../src/worker/hosts/host-pool.ts";
import type { SessionHostOptions } from "../../../src/worker/hosts/session-host.ts";

const HOUR_MS = 3_600_000;
/** The interval at which a pool checks its hosts. */
const LOOK_MS = 5_000;

/** The hosts in the test's pool, in the order of their start. */
let hosts: FakeHost[] = [];

beforeEach(() => void vi.useFakeTimers());

afterEach(() => {
  vi.useRealTimers();
  hosts = [];
});

/** A host without a process: the test determines its behavior. */
class FakeHost implements PoolHost {
  readonly ready = Promise.resolve();
  readonly startedAt = performance.now();
  readonly capacity: number;
  jobs: PooledJob[] = [];
  busyShare = 0;
  rssBytes = 0;
  isRetired = false;
  isClosed = false;
  readonly #options: SessionHostOptions;

  constructor(options: SessionHostOptions) {
    this.#options = options;
    this.capacity = options.capacity;
    hosts.push(this);
  }

  get freeSlots(): number {
    return this.isRetired ? 0 : this.capacity - this.jobs.length;
  }

  get rooms(): string[] {
    return this.jobs.map(({ runningJob }) => runningJob.job.room?.name ?? "");
  }

  launch(info: RunningJobInfo): void {
    const job: PooledJob = {
      runningJob: info,
      join: async () => {},
      close: async () => void (this.jobs = this.jobs.filter((other) => other !== job)),
    };
    this.jobs.push(job);
  }

  async handOver(): Promise<void> {}

  async close(): Promise<void> {
    this.isClosed = true;
  }

  /** Exits. Nothing tells which of its sessions was the cause. */
  end(): void {
    const jobs = this.jobs.map(({ runningJob }) => runningJob);
    [this.jobs, this.isRetired, this.isClosed] = [[], true, true];
    this.#options.onLost({ jobs, suspects: [], wasReady: true });
  }
}

function openPool(sessionsPerProcess: number): HostPool {
  const pool = new HostPool({
    agent: "",
    environment: {},
    sessionsPerProcess,
    startLimitMs: 30_000,
    endLimitMs: 5_000,
    logger: pino({ level: "silent" }),
    onLaunched: () => {},
    onModelCall: () => {},
    startHost: (options) => new FakeHost(options),
  });
  pool.start();
  return pool;
}

async function serve(pool: HostPool, ...rooms: string[]): Promise<void> {
  for (const room of rooms) {
    const job = new Job({ id: createId(), room: { name: room, creationTime: 1_700_000_000n } });
    const acceptArguments = { name: "", identity: "agent", metadata: "" };
    await pool.launchJob({ job, acceptArguments, url: "ws://127.0.0.1:1", token: "none", workerId: "worker" });
  }
}

const open = () => hosts.filter(({ isClosed }) => !isClosed);
const hostOf = (room: string) => open().find(({ rooms }) => rooms.includes(room));

test("more sessions than fit into a host start another host", async () => {
  const pool = openPool(2);
  await serve(pool, "a", "b", "c", "d", "e");

  expect(open().map(({ rooms }) => rooms.length)).toEqual([2, 2, 1]);
});

test("a reserve host gets no session while another has places", async () => {
  const pool = openPool(10);
  await serve(pool, "a", "b", "c", "d");
  vi.advanceTimersByTime(LOOK_MS);
  expect(open()).toHaveLength(2);
  await serve(pool, "e", "f");

  expect(open().map(({ rooms }) => rooms.length)).toEqual([6, 0]);
});

test("a reserve host gets sessions once the other is busy", async () => {
  const pool = openPool(10);
  await serve(pool, "a");
  vi.advanceTimersByTime(LOOK_MS);
  const [first] = open();
  if (first) first.busyShare = 0.6;
  await serve(pool, "b");

  expect(open().map(({ rooms }) => rooms)).toEqual([["a"], ["b"]]);
});

test("of two hosts in reserve, one ends", async () => {
  const pool = openPool(1);
  await serve(pool, "a", "b");
  vi.advanceTimersByTime(LOOK_MS);
  expect(open()).toHaveLength(3);
  await Promise.all(pool.processes.map((job) => job.close()));
  vi.advanceTimersByTime(LOOK_MS);

  expect(open()).toHaveLength(1);
});

test.each([
  ["is twelve hours old", (_host: FakeHost) => vi.advanceTimersByTime(12 * HOUR_MS)],
  ["has grown to more than half of its limit", (host: FakeHost) => void (host.rssBytes = 800 * 1_024 * 1_024)],
])("a host that %s takes no new session, and ends after its last one", async (_what, happen) => {
  const pool = openPool(10);
  await serve(pool, "before");
  const old = hostOf("before");
  if (old) happen(old);
  vi.advanceTimersByTime(LOOK_MS);
  await serve(pool, "after");

  expect(old?.rooms).toEqual(["before"]);
  expect(hostOf("after")).toBeDefined();
  expect(old?.isClosed).toBe(false);

  await old?.jobs[0]?.close();
  vi.advanceTimersByTime(LOOK_MS);
  expect(old?.isClosed).toBe(true);
});

test("of many rooms the one that crashes its host ends up alone, though nothing identifies it", async () => {
  const pool = openPool(10);
  const others = Array.from({ length: 9 }, (_, index) => `idle-${index}`);
  const losses = new Map(others.map((room) => [room, 0]));
  await serve(pool, "poison", ...others);

  for (let times = 0; times < 5; times++) {
    const host = hostOf("poison");
    const lost = host?.rooms ?? [];
    for (const room of lost) losses.set(room, (losses.get(room) ?? 0) + 1);
    host?.end();
    // Serves the rooms again, as the worker does for the rooms of lost sessions.
    await serve(pool, ...lost);
  }

  expect(hostOf("poison")?.rooms).toEqual(["poison"]);
  const ofOthers = others.map((room) => losses.get(room) ?? 0);
  // Each of the other rooms was lost twice, and the one that still shared the host at the third crash was lost once
  // more.
  expect(ofOthers.toSorted((a, b) => a - b)).toEqual([...Array.from({ length: 8 }, () => 2), 3]);
});

test("a room that has crashed its host shares one with others again ten minutes later", async () => {
  const pool = openPool(10);
  await serve(pool, "poison", "idle");
  for (let times = 0; times < 2; times++) {
    hostOf("poison")?.end();
    await serve(pool, "poison", "idle");
  }
  expect(hostOf("poison")?.rooms).toEqual(["poison"]);

  await hostOf("poison")?.jobs[0]?.close();
  vi.advanceTimersByTime(10 * 60_000 + LOOK_MS);
  await serve(pool, "poison", "another");

  expect(hostOf("poison")?.rooms).toContain("another");
});
