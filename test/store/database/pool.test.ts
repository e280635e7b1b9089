import { Socket } from "node:net";
import { setImmediate as nextImmediate } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { connect, type PoolOptions } from "../../../src/store/database/pool.ts";
import { runQuery } from "../../../src/store/database/store-error.ts";
import { TcpProxy } from "../../support/servers/tcp-proxy.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { forFile } from "../../support/lifetimes.ts";

const database = forFile(tempDatabase);

async function throughProxy(options: PoolOptions = {}) {
  const proxy = await TcpProxy.start(database.url);
  const sql = connect(proxy.url, options);
  onTestFinished(async () => {
    await sql.end({ timeout: 0 });
    await proxy[Symbol.asyncDispose]();
  });
  return { proxy, sql };
}

test("times are milliseconds since the epoch, in both directions", async () => {
  const { sql } = database;
  const at = Date.UTC(2026, 1, 3, 4, 5, 6, 789);

  const [row] = await sql`select ${sql.types.timestamp(at)}::timestamptz as at`;

  expect(row).toEqual({ at });
});

test("connections carry the application's name", async () => {
  expect(await database.sql`show application_name`).toMatchObject([{ application_name: "parley" }]);
});

test("a statement is sent immediately, even while the server has not confirmed the previous one", async () => {
  using setNoDelay = vi.spyOn(Socket.prototype, "setNoDelay");
  const sql = connect(database.url, { maxConnections: 1 });
  onTestFinished(() => sql.end({ timeout: 0 }));

  await sql`select 1`;

  expect(setNoDelay.mock.calls).toEqual([[true]]);
});

test("a connection on which an answer is overdue is closed, and the next query works", async () => {
  // The limit leaves enough time to reconnect afterwards, even on a busy machine.
  const { proxy, sql } = await throughProxy({ maxConnections: 1, answerTimeoutMs: 2_000 });
  await sql`select 1`;
  proxy.pause();

  await expect(runQuery(sql`select 2`)).rejects.toMatchObject({ code: "unavailable" });

  proxy.resume();
  expect(await sql`select 3 as three`).toMatchObject([{ three: 3 }]);
});

test("a server that accepts a connection and says nothing is given up on, and the next query works", async () => {
  const { proxy, sql } = await throughProxy({ maxConnections: 1, connectTimeoutMs: 1_000 });
  proxy.pause();

  await expect(runQuery(sql`select 1`)).rejects.toMatchObject({
    code: "unavailable",
    message: "The database is unavailable (CONNECT_TIMEOUT)",
  });

  proxy.resume();
  expect(await sql`select 2 as two`).toMatchObject([{ two: 2 }]);
});

test("a connection without a pending query stays open", async () => {
  const { proxy, sql } = await throughProxy({ maxConnections: 1, answerTimeoutMs: 200 });
  await sql`select 1`;
  // This is longer than the limit. Nothing signals that the connection stays open, so the test has to wait.
  await new Promise((resolve) => setTimeout(resolve, 500));

  await sql`select 2`;

  expect(proxy.connectionCount).toBe(1);
});

test("a connection is not lost because this process froze while its answer arrived", async () => {
  const sql = connect(database.url, { maxConnections: 1, answerTimeoutMs: 200 });
  onTestFinished(() => sql.end({ timeout: 0 }));
  const before = await sql`select pg_backend_pid()`;
  const answer = sql`select pg_backend_pid() from pg_sleep(0.15)`.execute();
  // By now, the query has been written, and the pool has noticed that no answer has come yet.
  await new Promise((resolve) => setTimeout(resolve, 100));
  // After this, the event loop runs timers before it reads from the connection.
  await new Promise((resolve) => setImmediate(resolve));
  const cell = new Int32Array(new SharedArrayBuffer(4));
  Atomics.wait(cell, 0, 0, 600);

  expect(await answer).toEqual(before);
});

test("a query right after a cut connection is answered", async () => {
  const { proxy, sql } = await throughProxy({ maxConnections: 1 });
  await sql`select 1`;
  proxy.pause();
  const unanswered = sql`select 2`.then(
    () => "answered",
    () => "lost",
  );
  proxy.cut();
  proxy.resume();

  expect(await unanswered).toBe("lost");
  expect(await sql`select 3 as three`).toMatchObject([{ three: 3 }]);
});

test("queries that start while their connection closes are all settled, and the next one works", async () => {
  const { proxy, sql } = await throughProxy({ maxConnections: 1 });
  for (let round = 0; round < 5; round++) {
    await sql`select 1`;
    let isLost = false;
    const queries: Promise<unknown>[] = [];
    proxy.cut();
    while (!isLost) {
      // The driver writes a query one tick after the query was made. With a new query in every other tick, the
      // connection often closes while a query waits to be written.
      await nextImmediate();
      await nextImmediate();
      queries.push(sql`select 2`.catch(() => (isLost = true)));
    }
    await Promise.all(queries);
  }

  expect(await sql`select 3 as three`).toMatchObject([{ three: 3 }]);
});

test("a proxy without a database behind it makes queries fail, not spin", async () => {
  const { proxy, sql } = await throughProxy();
  proxy.isRefusing = true;

  await expect(runQuery(sql`select 1`)).rejects.toMatchObject({ code: "unavailable" });

  expect(proxy.connectionCount).toBeLessThan(5);
});

test("the error for a refused statement contains its code, without its content", async () => {
  await expect(runQuery(database.sql`select ${"secret"}::text::int`)).rejects.toMatchObject({
    code: "internal",
    message: "The database rejected a statement (22P02)",
  });
});
