import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Job } from "@livekit/protocol";
import type { RunningJobInfo } from "@livekit/agents";
import { pino } from "pino";
import { afterEach, expect, test, vi } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { jobEnvironment } from "../../../src/worker/hosts/job-environment.ts";
import { HostPool } from "../../../src/worker/hosts/host-pool.ts";
import { listChildren, processCommand } from "../../../src/worker/process/running-processes.ts";

// A host is a process; two cores that have other work to do need their time to start one.
vi.setConfig({ testTimeout: 40_000 });

const pools: HostPool[] = [];

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

/** Those of the jobs below. No host looks for them. */
const ENDPOINTS = {
  livekit: { url: "ws://127.0.0.1:1", apiKey: "key", apiSecret: "secret" },
  databaseUrl: "postgres://127.0.0.1:1/none",
  listenUrl: undefined,
  model: { name: "none", apiKey: "none", baseUrl: undefined },
};

function openPool(): HostPool {
  const pool = new HostPool({
    agent: join(import.meta.dirname, "../../fixtures/agents/host-agent.ts"),
    environment: jobEnvironment({ endpoints: ENDPOINTS, hubUrl: "", reloads: false }),
    sessionsPerProcess: 10,
    startLimitMs: 30_000,
    endLimitMs: 5_000,
    logger: pino({ level: process.env["LOG_LEVEL"] ?? "silent" }),
    onLaunched: () => {},
  });
  pools.push(pool);
  pool.start();
  return pool;
}

function jobOf(room: string): RunningJobInfo {
  const job = new Job({ id: createId(), room: { name: room, creationTime: 1_700_000_000n } });
  const acceptArguments = { name: "", identity: "agent", metadata: "" };
  return { job, acceptArguments, url: "ws://127.0.0.1:1", token: "none", workerId: "worker" };
}

function roomsOf(pool: HostPool): string[] {
  const rooms = pool.processes.map(({ runningJob }) => runningJob.job.room?.name ?? "");
  return rooms.toSorted();
}

/** From when a session has its host until the host is ended for what it does. */
async function msUntilLost(room: string): Promise<number> {
  const pool = openPool();
  await pool.launchJob(jobOf(room));
  const launchedAt = performance.now();
  await vi.waitUntil(() => roomsOf(pool).length === 0, { timeout: 10_000 });
  return performance.now() - launchedAt;
}

const hosts = () => listChildren().filter((pid) => processCommand(pid).includes("host-main"));

test("sessions share a process, end one by one, and their host stays", async () => {
  const pool = openPool();
  await Promise.all(["a", "b", "c"].map((room) => pool.launchJob(jobOf(room))));
  expect(roomsOf(pool)).toEqual(["a", "b", "c"]);
  const before = hosts();
  expect(before.length).toBeLessThanOrEqual(2);

  const [first] = pool.processes;
  await first?.close();

  expect(roomsOf(pool)).toHaveLength(2);
  expect(hosts()).toEqual(expect.arrayContaining(before.slice(0, 1)));
});

test("a host gets the variables that tools may read, and no secret that only the worker uses", async () => {
  vi.stubEnv("BRAVE_API_KEY", "for a tool");
  vi.stubEnv("TOKEN_SECRET", "development-secret");
  vi.stubEnv("WEBHOOK_SECRET", "whsec_secret");
  const pool = openPool();
  vi.unstubAllEnvs();
  await pool.launchJob(jobOf("a"));

  const environments = hosts().map((pid) => readFileSync(`/proc/${pid}/environ`, "utf8").split("\0"));
  expect(environments.length).toBeGreaterThan(0);
  for (const environment of environments) {
    expect(environment).toEqual(
      expect.arrayContaining(["BRAVE_API_KEY=for a tool", "TOKEN_SECRET=", "WEBHOOK_SECRET="]),
    );
  }
});

test("a pool no longer lists the room of a session that has ended", async () => {
  const pool = openPool();
  await pool.launchJob(jobOf("leave"));

  await expect.poll(() => roomsOf(pool), { timeout: 10_000 }).toEqual([]);
});

test("an error that nobody catches ends its host's sessions, and its room is served alone from then on", async () => {
  const pool = openPool();
  await pool.launchJob(jobOf("idle"));
  await pool.launchJob(jobOf("throw"));
  await vi.waitUntil(() => !roomsOf(pool).includes("throw"), { timeout: 10_000 });

  // As the worker does with the rooms of sessions that have ended; this time nothing is thrown.
  const { job, ...rest } = jobOf("throw");
  await pool.launchJob({ ...rest, job }).catch(() => {});
  await pool.launchJob(jobOf("idle"));
  await vi.waitUntil(() => !roomsOf(pool).includes("throw"), { timeout: 10_000 });

  expect(roomsOf(pool)).toContain("idle");
});

test("a host that stalls is ended, once that is certain", async () => {
  // 100 ms until it stalls, a second to know it, and the time between two looks.
  expect(await msUntilLost("stall")).toBeGreaterThan(1_000);
});

test("a host is ended in which a tool waits without giving others their turn", async () => {
  // One in which nothing runs, and which was stopped perhaps, is given 10 s.
  expect(await msUntilLost("block")).toBeLessThan(8_000);
});

test("a host whose sessions compute all the time is full, whatever places it has", async () => {
  const pool = openPool();
  await pool.launchJob(jobOf("idle"));
  expect(pool.busyShare).toBeLessThan(0.5);
  await pool.launchJob(jobOf("compute"));

  await expect.poll(() => pool.busyShare, { timeout: 30_000 }).toBeGreaterThan(0.5);
});

test("a host that grows past its limit is ended", async () => {
  const pool = openPool();
  await pool.launchJob(jobOf("grow"));

  await expect.poll(() => roomsOf(pool), { timeout: 20_000 }).toEqual([]);
});

test("a session that has not begun, for its host is still starting, ends at once", async () => {
  const pool = openPool();
  const launched = pool.launchJob(jobOf("a"));

  await pool.processes[0]?.close();
  expect(roomsOf(pool)).toEqual([]);
  await launched;
});

test("a rejection that nobody looks at ends no session", async () => {
  const pool = openPool();
  await pool.launchJob(jobOf("reject"));
  await pool.launchJob(jobOf("idle"));
  await new Promise((resolve) => setTimeout(resolve, 500));

  expect(roomsOf(pool)).toEqual(["idle", "reject"]);
});

test("closing ends all sessions and leaves no host", async () => {
  const pool = openPool();
  await Promise.all(["a", "b"].map((room) => pool.launchJob(jobOf(room))));

  await pool.close();

  expect(roomsOf(pool)).toEqual([]);
  await vi.waitUntil(() => hosts().length === 0, { timeout: 5_000 });
});
