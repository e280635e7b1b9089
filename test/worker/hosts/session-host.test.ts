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

// Each host is a process, which takes time to start on two busy cores.
vi.setConfig({ testTimeout: 40_000 });

const pools: HostPool[] = [];

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

/** The endpoints for the jobs below. No host connects to them. */
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
    onModelCall: () => {},
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

/** The time from the start of a session until its host is killed because of that session. */
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

test("a host gets the variables that tools may read, and no secrets that only the worker uses", async () => {
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

test("a pool no longer lists the room of a finished session", async () => {
  const pool = openPool();
  await pool.launchJob(jobOf("leave"));

  await expect.poll(() => roomsOf(pool), { timeout: 10_000 }).toEqual([]);
});

test("an uncaught error ends its host's sessions, and its room is served alone from then on", async () => {
  const pool = openPool();
  await pool.launchJob(jobOf("idle"));
  await pool.launchJob(jobOf("throw"));
  await vi.waitUntil(() => !roomsOf(pool).includes("throw"), { timeout: 10_000 });

  // Launches both jobs again, as the worker does for the rooms of lost sessions. Now the job that throws is alone in
  // its host, so its error ends no other session.
  const { job, ...rest } = jobOf("throw");
  await pool.launchJob({ ...rest, job }).catch(() => {});
  await pool.launchJob(jobOf("idle"));
  await vi.waitUntil(() => !roomsOf(pool).includes("throw"), { timeout: 10_000 });

  expect(roomsOf(pool)).toContain("idle");
});

test("a host that stalls is killed, once that is certain", async () => {
  // The time has three parts: 100 ms until the host stalls, a second until that is certain, and the interval between
  // two checks.
  expect(await msUntilLost("stall")).toBeGreaterThan(1_000);
});

test("a host is killed if a tool in it waits without yielding to others", async () => {
  // The limit is less than the 10 s that a host is given if it runs no code, perhaps because it was stopped.
  expect(await msUntilLost("block")).toBeLessThan(8_000);
});

test("a host whose sessions compute all the time is full, however many places it has", async () => {
  const pool = openPool();
  await pool.launchJob(jobOf("idle"));
  expect(pool.busyShare).toBeLessThan(0.5);
  await pool.launchJob(jobOf("compute"));

  await expect.poll(() => pool.busyShare, { timeout: 30_000 }).toBeGreaterThan(0.5);
});

test("a host that grows past its limit is killed", async () => {
  const pool = openPool();
  await pool.launchJob(jobOf("grow"));

  await expect.poll(() => roomsOf(pool), { timeout: 20_000 }).toEqual([]);
});

test("a session that has not started, because its host is still starting, ends immediately", async () => {
  const pool = openPool();
  const launched = pool.launchJob(jobOf("a"));

  await pool.processes[0]?.close();
  expect(roomsOf(pool)).toEqual([]);
  await launched;
});

test("an unhandled rejection ends no session", async () => {
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
