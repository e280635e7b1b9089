import { expect, test } from "vitest";
import { findDatabaseEndpoints } from "../../../src/store/database/database-endpoints.ts";
import { migrate } from "../../../src/store/database/migrate.ts";
import { connect } from "../../../src/store/database/pool.ts";
import { forFile } from "../../support/lifetimes.ts";
import { startPgBouncer } from "../../support/servers/pgbouncer.ts";
import { emptyDatabase, tempDatabase } from "../../support/servers/temp-database.ts";

const database = forFile(tempDatabase);
const pooler = forFile(() => startPgBouncer(database.url));

test("PostgreSQL itself is used as its address says, and notifications arrive there", async () => {
  expect(await findDatabaseEndpoints(database.url)).toEqual({ databaseUrl: database.url, listenUrl: database.url });
});

test("a pooler in transaction mode is detected because a notification does not come back", async () => {
  expect(await findDatabaseEndpoints(pooler.url)).toMatchObject({ listenUrl: undefined });
});

test("with a direct address besides the pooler's, notifications arrive there", async () => {
  expect(await findDatabaseEndpoints(pooler.url, database.url)).toMatchObject({ listenUrl: database.url });
});

test("a direct address of another database is refused", async () => {
  await using other = await emptyDatabase();

  expect(await findDatabaseEndpoints(pooler.url, other.url)).toMatchObject({ listenUrl: undefined });
});

test("a pooler in session mode passes notifications on", async () => {
  await using ofSessions = await startPgBouncer(database.url, { mode: "session" });

  expect(await findDatabaseEndpoints(ofSessions.url)).toMatchObject({ listenUrl: ofSessions.url });
});

test("the address's setting for prepared statements is respected", async () => {
  const said = `${pooler.url}?prepare=true`;

  expect(await findDatabaseEndpoints(said)).toMatchObject({ databaseUrl: said });
});

test("the same statement works again and again on whatever connection the pooler assigns", async () => {
  const { databaseUrl } = await findDatabaseEndpoints(pooler.url);
  await using cleanup = new AsyncDisposableStack();
  const pools = Array.from({ length: 4 }, () => connect(databaseUrl));
  for (const pool of pools) cleanup.defer(() => pool.end({ timeout: 1 }));

  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const sql = pools[index % pools.length] ?? database.sql;
      const [row] = await sql<[{ index: number }]>`select ${index}::int as index, pg_sleep(0.001)`;
      return row.index;
    }),
  );

  expect(answers).toEqual(Array.from({ length: 200 }, (_, index) => index));
});

test("an address where nobody answers is unavailable", async () => {
  const nowhere = Object.assign(new URL(database.url), { port: "1" }).href;

  await expect(findDatabaseEndpoints(nowhere)).rejects.toMatchObject({ code: "unavailable" });
  await expect(findDatabaseEndpoints(pooler.url, nowhere)).rejects.toMatchObject({ code: "unavailable" });
});

test("workers that start together migrate once, one of them directly and the others through the pooler", async () => {
  await using empty = await emptyDatabase();
  const through = Object.assign(new URL(pooler.url), { pathname: new URL(empty.url).pathname }).href;

  const reports = await Promise.all([through, through, empty.url, through].map((url) => migrate(url)));

  expect(reports.map(({ pending }) => pending)).toEqual([[], [], [], []]);
  const [count] = await empty.sql`select count(*)::int as runs from parley_migrations where version = 1`;
  expect(count).toEqual({ runs: 1 });
});
