import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  MIGRATION_FOLDER,
  migrate,
  migrationFiles,
  migrationStatus,
  migrationsAreApplied,
} from "../../../src/store/database/migrate.ts";
import { TcpProxy } from "../../support/servers/tcp-proxy.ts";
import { emptyDatabase } from "../../support/servers/temp-database.ts";
import { forEachTest } from "../../support/lifetimes.ts";

const FILES = await migrationFiles();
const NEWEST = FILES.at(-1)?.version ?? 0;

const database = forEachTest(emptyDatabase);

test("an empty database reports what is pending", async () => {
  expect(await migrationStatus(database.sql)).toEqual({
    databaseVersion: 0,
    codeVersion: NEWEST,
    pending: FILES.map(({ fileName }) => fileName),
    isDatabaseNewer: false,
  });
  expect(await migrationsAreApplied(database.sql)).toBe(false);
});

test("migrating twice is migrating once", async () => {
  expect(await migrate(database.url)).toMatchObject({ databaseVersion: NEWEST, pending: [] });
  expect(await migrate(database.url)).toMatchObject({ databaseVersion: NEWEST, pending: [] });

  expect(await migrationsAreApplied(database.sql)).toBe(true);
  expect(await database.sql`select version::int from parley_migrations order by version`).toMatchObject([
    { version: 0 },
    ...FILES.map(({ version }) => ({ version })),
  ]);
});

test("workers that start together migrate once", async () => {
  const reports = await Promise.all(Array.from({ length: 5 }, () => migrate(database.url)));

  expect(reports.map((report) => report.databaseVersion)).toEqual(Array(5).fill(NEWEST));
  const [count] = await database.sql`select count(*)::int as runs from parley_migrations where version = 1`;
  expect(count).toEqual({ runs: 1 });
});

test("a database newer than the code is left alone and reported", async () => {
  await migrate(database.url);
  await database.sql`insert into parley_migrations (version, name) values (99, 'from the future')`;

  expect(await migrate(database.url)).toMatchObject({
    databaseVersion: 99,
    codeVersion: NEWEST,
    isDatabaseNewer: true,
  });
  expect(await migrationsAreApplied(database.sql)).toBe(true);
});

test("an applied migration that has been edited since stops the start", async () => {
  await migrate(database.url);
  await database.sql`update parley_migrations set md5 = 'other' where version = 1`;

  await expect(migrate(database.url)).rejects.toMatchObject({
    code: "invalid_config",
    message: "Migrating the database failed: MD5 checksum failed for migration [1]",
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

test("a connection that is lost while another worker migrates is unavailable, and ends nothing else", async () => {
  await using proxy = await TcpProxy.start(database.url);
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = database.sql.begin(async (other) => {
    await other`select pg_advisory_xact_lock(4507231)`;
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  const migrating = migrate(proxy.url).catch((error: unknown) => error);
  const isWaiting = () => database.sql`
    select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  await expect.poll(isWaiting).toHaveLength(1);

  proxy.cut();

  expect(await migrating).toMatchObject({ code: "unavailable" });
  released.resolve();
  await holding;
});

test("notes that were stored in their turn's row have a separate table", async () => {
  const apply = async ([from, to]: [number, number]) => {
    for (const { fileName } of FILES.slice(from, to))
      await database.sql.unsafe(await readFile(join(MIGRATION_FOLDER, fileName), "utf8"));
  };
  await apply([0, 2]);
  const notes = [
    { messageId: "m1", content: "wrong", commentaryType: "rating" },
    { messageId: "q1", content: "really?", commentaryType: null },
  ];
  await database.sql`insert into sessions (id, conversation_id) values ('s1', 'kitchen')`;
  await database.sql`
    insert into turns (id, session_id, position, participant_identity, message_id, commentary)
    values ('t1', 's1', 1, 'ann', 'm1', ${database.sql.json(notes)}), ('t2', 's1', 2, 'ann', 'm2', '[]')
  `;

  await apply([2, 3]);

  const kept = await database.sql`
    select message_id as "messageId", content, commentary_type as "commentaryType"
    from commentaries where turn_id = 't1' order by id
  `;
  expect(kept).toEqual(notes);
});
