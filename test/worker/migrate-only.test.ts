import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { migrationFiles, migrationStatus } from "../../src/store/database/migrate.ts";
import { withoutPassword } from "../../src/worker/settings/database-url.ts";
import { emptyDatabase } from "../support/servers/temp-database.ts";
import { TcpProxy } from "../support/servers/tcp-proxy.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { runMain } from "./support/run-main.ts";

// These tests start whole programs, which takes time on two busy cores.
vi.setConfig({ testTimeout: 60_000 });

const migrate = (env: NodeJS.ProcessEnv) => runMain(env, "--worker-only", "--migrate");

test("with --migrate it migrates the database and exits, using nothing but the database", async () => {
  await using database = await emptyDatabase();
  const PGPASSWORD = decodeURIComponent(new URL(database.url).password);
  const newest = (await migrationFiles()).at(-1)?.version;

  const { code, stdout, stderr } = await migrate({ DATABASE_URL: withoutPassword(database.url), PGPASSWORD }).ended;

  expect([code, stdout]).toEqual([0, ""]);
  expect(stderr).toBe(`parley: the database is at version ${newest}\n`);
  expect((await migrationStatus(database.sql)).pending).toEqual([]);
});

test("with --migrate the database's address and password can come from files", async () => {
  await using database = await emptyDatabase();
  await using folder = await tempFolder();
  const [address, password] = [join(folder.path, "address"), join(folder.path, "password")];
  await writeFile(address, `${withoutPassword(database.url)}\n`);
  await writeFile(password, `${decodeURIComponent(new URL(database.url).password)}\n`);

  const { code } = await migrate({ DATABASE_URL_FILE: address, PGPASSWORD_FILE: password }).ended;

  expect(code).toBe(0);
  expect((await migrationStatus(database.sql)).pending).toEqual([]);
});

test("a migration that fails changes nothing, reports why and exits with an error", async () => {
  await using database = await emptyDatabase();
  await database.sql`create table turns (id int)`;

  const { code, stderr } = await migrate({ DATABASE_URL: database.url }).ended;

  expect(code).toBe(1);
  expect(stderr).toMatch(/^parley: Migrating the database failed: .*"turns" already exists/);
  expect((await migrationStatus(database.sql)).databaseVersion).toBe(0);
});

test("without DATABASE_URL it says so, and starts no database", async () => {
  const { code, stderr } = await runMain({}, "--migrate").ended;

  expect(code).toBe(1);
  expect(stderr).toBe("parley: Required but not set:\nDATABASE_URL: the address of a PostgreSQL 15 or newer\n");
});

test("a migration that is stopped while it waits for the database has failed", async () => {
  await using database = await emptyDatabase();
  await using proxy = await TcpProxy.start(database.url);
  proxy.isRefusing = true;
  const main = migrate({ DATABASE_URL: proxy.url });
  await vi.waitUntil(() => proxy.connectionCount > 0, { timeout: 20_000 });

  main.kill("SIGTERM");

  expect((await main.ended).code).toBe(1);
});
