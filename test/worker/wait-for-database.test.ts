import { expect, test, vi } from "vitest";
import { migrateWhenAvailable, prepareDatabase } from "../../src/worker/wait-for-database.ts";
import { TcpProxy } from "../support/servers/tcp-proxy.ts";
import { emptyDatabase } from "../support/servers/temp-database.ts";

/** A database that is unreachable until `isRefusing` is set to false. */
async function startAway(cleanup: AsyncDisposableStack) {
  const database = await emptyDatabase();
  cleanup.defer(() => database.drop());
  const proxy = cleanup.use(await TcpProxy.start(database.url));
  proxy.isRefusing = true;
  const lines: string[] = [];
  const progress = (line: string) => lines.push(line);
  const stopping = new AbortController();
  return { database, proxy, lines, stopping, options: { progress, signal: stopping.signal, retryMs: 20 } };
}

test("a database that is not reachable yet is waited for, with one line that shows it, and migrated", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { proxy, lines, options } = await startAway(cleanup);
  const { host, pathname, password } = new URL(proxy.url);

  const migrated = migrateWhenAvailable(proxy.url, options);
  await vi.waitUntil(() => proxy.connectionCount > 3, { timeout: 5_000 });
  proxy.isRefusing = false;

  expect(await migrated).toMatchObject({ pending: [], isDatabaseNewer: false });
  expect(lines).toEqual([
    `waiting for the database at ${host}${pathname}: The database is unavailable (CONNECTION_CLOSED)`,
  ]);
  expect(lines.join()).not.toContain(password);
});

test("a pooler that is not reachable yet is waited for as well", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { database, proxy, lines, options } = await startAway(cleanup);
  const { host, pathname } = new URL(proxy.url);

  const prepared = prepareDatabase({ databaseUrl: proxy.url, directUrl: database.url }, options);
  await vi.waitUntil(() => proxy.connectionCount > 3, { timeout: 5_000 });
  proxy.isRefusing = false;

  expect(await prepared).toMatchObject({ pending: [], databaseUrl: proxy.url, listenUrl: database.url });
  expect(lines).toEqual([
    `waiting for the database at ${host}${pathname}: The database is unavailable (CONNECTION_CLOSED)`,
  ]);
});

test("a stop ends the wait", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { proxy, stopping, options } = await startAway(cleanup);

  const migrated = migrateWhenAvailable(proxy.url, { ...options, retryMs: 60_000 });
  await vi.waitUntil(() => proxy.connectionCount > 0, { timeout: 5_000 });
  stopping.abort();

  await expect(migrated).rejects.toMatchObject({ name: "AbortError" });
});

test("an error that waiting cannot fix ends the start and is explained", async () => {
  await using cleanup = new AsyncDisposableStack();
  const { database, lines, options } = await startAway(cleanup);
  const wrong = Object.assign(new URL(database.url), { password: "wrong" }).href;
  const nowhere = Object.assign(new URL(database.url), { pathname: "/nowhere" }).href;

  await expect(migrateWhenAvailable(wrong, options)).rejects.toThrow(/password authentication failed/);
  await expect(migrateWhenAvailable(nowhere, options)).rejects.toThrow(/"nowhere" does not exist/);
  expect(lines).toEqual([]);
});
