import { expect, test } from "vitest";
import { connect } from "../../../src/store/database/pool.ts";
import { storedSession } from "../../store/store-fixtures.ts";
import { tempDatabase } from "./temp-database.ts";

const idOf = async (sql: ReturnType<typeof connect>) => {
  const [row] = await sql<{ oid: number }[]>`select oid from pg_database where datname = current_database()`;
  return row?.oid;
};

test("a released database is reused, without any rows from the previous test", async () => {
  const first = await tempDatabase();
  const id = await idOf(first.sql);
  await storedSession(first.sql);
  await first.drop();

  await using second = await tempDatabase();

  expect(await idOf(second.sql)).toBe(id);
  expect(await second.sql`select from sessions`).toEqual([]);
});

test("a client that is still connected is cut off, and does not find the database again", async () => {
  const database = await tempDatabase();
  await using cleanup = new AsyncDisposableStack();
  const straggler = connect(database.url);
  cleanup.defer(() => straggler.end({ timeout: 0 }));
  await straggler`select 1`;

  await database.drop();

  await expect(straggler`select 1`).rejects.toThrow("does not exist");
});

test.each([
  "create table mine (a int)",
  "alter table turns add column mine int",
  "alter table turns rename to mine",
  "create function mine() returns int language sql as 'select 1'",
  "do $$ begin execute format('alter database %I set synchronous_commit = off', current_database()); end $$",
])("a database with a changed form is not reused: %s", async (change) => {
  const changed = await tempDatabase();
  const id = await idOf(changed.sql);
  await changed.sql.unsafe(change);
  await changed.drop();

  await using next = await tempDatabase();

  expect(await idOf(next.sql)).not.toBe(id);
});
