import { createId } from "../../lib/id.ts";
import { connect, type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

/** The addresses of a database that may be behind a pooler. */
export interface DatabaseEndpoints {
  /** The address for statements. It contains `prepare=false` if the pooler would lose prepared statements. */
  readonly databaseUrl: string;
  /** The address for receiving notifications; `undefined` if none works. */
  readonly listenUrl: string | undefined;
}

/** How long the test notification may take. */
const NOTIFICATION_TIMEOUT_MS = 2_000;

/**
 * Finds out whether prepared statements and notifications work at these addresses. A pooler in transaction mode may run
 * each transaction on a different connection, which loses prepared statements and notifications. An address that
 * already contains `prepare` is not changed.
 *
 * @param directUrl an address that bypasses the pooler, for notifications
 * @throws {AppError} `unavailable` if one of the addresses cannot be reached
 */
export async function findDatabaseEndpoints(databaseUrl: string, directUrl = databaseUrl): Promise<DatabaseEndpoints> {
  const sql = connect(databaseUrl, { maxConnections: 1, applicationName: "parley-probe" });
  try {
    const isSpecified = new URL(databaseUrl).searchParams.has("prepare");
    const keepsStatements = isSpecified || (await keepsPreparedStatements(sql));
    return {
      databaseUrl: keepsStatements ? databaseUrl : withoutPreparing(databaseUrl),
      listenUrl: (await receivesNotifications(sql, directUrl)) ? directUrl : undefined,
    };
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/**
 * Whether a prepared statement can be executed again. Without a pooler, it can. Behind a pooler, the process that runs
 * the query has a different id than the one reported at connection start. If that process lists the statement under the
 * driver's own name, the pooler passes statements on unchanged, so its other connections lack the statement. PgBouncer
 * 1.21 and later renames statements, and prepares them on every connection that lacks them.
 */
async function keepsPreparedStatements(sql: Sql): Promise<boolean> {
  const rows = await runQuery(sql<[{ pid: number; names: readonly string[] }]>`
    select pg_backend_pid() as pid, (select coalesce(json_agg(name), '[]') from pg_prepared_statements) as names
  `);
  const isPooled = rows.state.pid !== rows[0].pid;
  return !isPooled || !rows[0].names.includes(rows.statement.name);
}

/** Returns the address with `prepare=false`, which works through every pooler. */
export function withoutPreparing(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set("prepare", "false");
  return url.href;
}

/** Whether a notification sent through `sql` arrives at `listenUrl`. The channel's name is unique to this check. */
async function receivesNotifications(sql: Sql, listenUrl: string): Promise<boolean> {
  const channel = `parley_probe_${createId()}`;
  const listener = connect(listenUrl, { maxConnections: 1, applicationName: "parley-probe" });
  const received = Promise.withResolvers<boolean>();
  let timer: NodeJS.Timeout | undefined;
  try {
    await runQuery(listener.listen(channel, () => received.resolve(true)));
    await runQuery(sql.notify(channel, ""));
    timer = setTimeout(() => received.resolve(false), NOTIFICATION_TIMEOUT_MS);
    return await received.promise;
  } finally {
    clearTimeout(timer);
    await listener.end({ timeout: 0 });
  }
}
