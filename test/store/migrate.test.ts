import { afterEach, beforeEach, expect, test } from "vitest";
import { migrate } from "../../src/store/migrate.ts";
import { migrationsAreApplied, migrationStatus } from "../../src/store/migration-status.ts";
import { emptyDatabase, type TempDatabase } from "../support/temp-database.ts";

let database: TempDatabase;
beforeEach(async () => {
  database = await emptyDatabase();
});
afterEach(() => database.drop());

test("an empty database says what is pending", async () => {
  expect(await migrationStatus(database.sql)).toEqual({
    databaseVersion: 0,
    codeVersion: 2,
    pending: ["001.do.record.sql", "002.do.permissions.sql"],
    isDatabaseNewer: false,
  });
  expect(await migrationsAreApplied(database.sql)).toBe(false);
});

test("migrating twice is migrating once", async () => {
  expect(await migrate(database.url)).toMatchObject({ databaseVersion: 2, pending: [] });
  expect(await migrate(database.url)).toMatchObject({ databaseVersion: 2, pending: [] });

  expect(await migrationsAreApplied(database.sql)).toBe(true);
  expect(await database.sql`select version::int from parley_migrations order by version`).toMatchObject([
    { version: 0 },
    { version: 1 },
    { version: 2 },
  ]);
});

test("workers that start together migrate once", async () => {
  const reports = await Promise.all(Array.from({ length: 5 }, () => migrate(database.url)));

  expect(reports.map((report) => report.databaseVersion)).toEqual([2, 2, 2, 2, 2]);
  const [count] = await database.sql`select count(*)::int as runs from parley_migrations where version = 1`;
  expect(count).toEqual({ runs: 1 });
});

test("a database that is newer than the code is left alone and reported", async () => {
  await migrate(database.url);
  await database.sql`insert into parley_migrations (version, name) values (99, 'from the future')`;

  expect(await migrate(database.url)).toMatchObject({ databaseVersion: 99, codeVersion: 2, isDatabaseNewer: true });
  expect(await migrationsAreApplied(database.sql)).toBe(true);
});

test("an applied migration that was edited since stops the start", async () => {
  await migrate(database.url);
  await database.sql`update parley_migrations set md5 = 'other' where version = 1`;

  await expect(migrate(database.url)).rejects.toMatchObject({
    code: "invalid_config",
    message: "The database cannot be migrated: MD5 checksum failed for migration [1]",
  });
});

test("a migration that fails leaves nothing behind", async () => {
  await database.sql`create table turns (mine int)`;

  await expect(migrate(database.url)).rejects.toMatchObject({ code: "invalid_config" });

  expect(await database.sql`select to_regclass('sessions') as sessions`).toMatchObject([{ sessions: null }]);
  expect(await migrationStatus(database.sql)).toMatchObject({ databaseVersion: 0 });
});

test("a database that cannot be reached is unavailable", async () => {
  const nowhere = new URL(database.url);
  nowhere.port = "1";

  await expect(migrate(nowhere.href)).rejects.toMatchObject({
    code: "unavailable",
    message: "The database is unavailable (ECONNREFUSED)",
  });
});
