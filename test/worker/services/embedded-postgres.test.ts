import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connect } from "../../../src/store/database/pool.ts";
import { readPidFile } from "../../../src/worker/process/pid-file.ts";
import { processCommand, processStart } from "../../../src/worker/process/running-processes.ts";
import {
  endStalePostgres,
  startPostgres,
  type PostgresService,
} from "../../../src/worker/services/embedded-postgres.ts";
import { databaseFolder } from "../../support/servers/database-folder.ts";

let dataDir: string;
const running: PostgresService[] = [];

beforeEach(async () => {
  // This folder is accessible only to its owner, like folders from `mktemp -d` and /root. PostgreSQL's user must be
  // able to enter it nevertheless.
  dataDir = await mkdtemp(join(databaseFolder(), "parley-postgres-"));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
  await rm(dataDir, { recursive: true, force: true });
});

async function start(): Promise<PostgresService> {
  const server = await startPostgres({ dataDir, port: 0, progress: () => {} });
  running.push(server);
  return server;
}

async function query(url: string, text: string): Promise<unknown> {
  const sql = connect(url, { maxConnections: 1 });
  const rows = await sql.unsafe(text);
  await sql.end({ timeout: 1 });
  return Array.from(rows);
}

test("it keeps its data and its address across a restart", async () => {
  const first = await start();
  await query(first.url, "create table kept as select 'é' as text");
  await first.close();

  const second = await start();

  expect(second.url).toBe(first.url);
  expect(await query(second.url, "select text from kept")).toEqual([{ text: "é" }]);
});

test("it listens on loopback, requires its password, and nobody else can read the password", async () => {
  const { url } = await start();
  const wrong = new URL(url);
  wrong.password = "wrong";

  expect(await query(url, "show listen_addresses")).toEqual([{ listen_addresses: "127.0.0.1" }]);
  await expect(query(wrong.href, "select 1")).rejects.toThrow(/password/);
  expect((await stat(join(dataDir, "postgres-password"))).mode & 0o777).toBe(0o600);
});

test("an initialization that was killed halfway is repeated", async () => {
  await mkdir(join(dataDir, "postgres.new/files"), { recursive: true });
  await writeFile(join(dataDir, "postgres.new/files/PG_VERSION"), "18");

  const { url } = await start();

  expect(await query(url, "select 1 as one")).toEqual([{ one: 1 }]);
});

test("a leftover server is ended, even if only its own lock file refers to it", async () => {
  await start();
  const pid = readPidFile(join(dataDir, "postgres.pid")) ?? 0;
  await rm(join(dataDir, "postgres.pid"));

  await endStalePostgres(dataDir);

  expect(pid).toBeGreaterThan(0);
  expect(processStart(pid)).toBeUndefined();
});

test("an unrelated process that got the id in an old lock file is left alone and does not stop the start", async () => {
  const first = await start();
  await first.close();
  await writeFile(join(dataDir, "postgres/postmaster.pid"), `${process.pid}\n`);

  await endStalePostgres(dataDir);
  const second = await start();

  expect(await query(second.url, "select 1 as one")).toEqual([{ one: 1 }]);
});

test.runIf(process.getuid?.() === 0)("as root it runs as the owner of the database files", async () => {
  const first = await start();
  await query(first.url, "create table kept as select 42 as answer");
  await first.close();
  const cluster = join(dataDir, "postgres");
  execFileSync("chown", ["-R", "12345:12345", cluster]);

  const second = await start();

  expect(await query(second.url, "select answer from kept")).toEqual([{ answer: 42 }]);
  expect((await stat(join(cluster, "postmaster.pid"))).uid).toBe(12_345);
});

test("its command line shows whose server it is", async () => {
  await start();
  const pid = readPidFile(join(dataDir, "postgres.pid")) ?? 0;

  expect(processCommand(pid)).toContain(join(dataDir, "postgres"));
});
