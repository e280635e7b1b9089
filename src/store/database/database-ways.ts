import { createId } from "../../lib/id.ts";
import { connect, type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

/** The addresses of a database that may be behind a pooler. */
export interface DatabaseWays {
  /** The address for statements. It has `prepare=false` if prepared statements would get lost. */
  readonly databaseUrl: string;
  /** The address at which notifications are heard; undefined when there is none. */
  readonly listenUrl: string | undefined;
}

/** How long a notification to oneself may take. */
const HEAR_LIMIT_MS = 2_000;

/**
 * Finds out what works at these addresses: a pooler in transaction mode gives each transaction any of its connections.
 * An address that has `prepare` in it already stays as it is.
 *
 * @param directUrl a way past the pooler, for notifications
 * @throws {AppError} `unavailable` when one of them cannot be reached
 */
export async function findDatabaseWays(databaseUrl: string, directUrl = databaseUrl): Promise<DatabaseWays> {
  const sql = connect(databaseUrl, { maxConnections: 1, applicationName: "parley-probe" });
  try {
    const isSaid = new URL(databaseUrl).searchParams.has("prepare");
    const isKept = isSaid || (await keepsPreparedStatements(sql));
    return {
      databaseUrl: isKept ? databaseUrl : withoutPreparing(databaseUrl),
      listenUrl: (await isHeard(sql, directUrl)) ? directUrl : undefined,
    };
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/**
 * Whether a prepared statement can be executed again. Behind a pooler, the process id that was told at the start
 * differs from that of the process which answers. If the statement then has the name that we gave it, the pooler only
 * passes names on, and its next connection does not know the statement. PgBouncer from 1.21 on gives statements its own
 * names, and prepares them where they are missing.
 */
async function keepsPreparedStatements(sql: Sql): Promise<boolean> {
  const rows = await runQuery(sql<[{ pid: number; names: readonly string[] }]>`
    select pg_backend_pid() as pid, (select coalesce(json_agg(name), '[]') from pg_prepared_statements) as names
  `);
  const isPooled = rows.state.pid !== rows[0].pid;
  return !isPooled || !rows[0].names.includes(rows.statement.name);
}

/** The address with `prepare=false`, which works through every pooler. */
export function withoutPreparing(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set("prepare", "false");
  return url.href;
}

/** Whether a notification that is sent by `sql` is heard at `listenUrl`. Nobody else ever uses the channel. */
async function isHeard(sql: Sql, listenUrl: string): Promise<boolean> {
  const channel = `parley_probe_${createId()}`;
  const listener = connect(listenUrl, { maxConnections: 1, applicationName: "parley-probe" });
  const heard = Promise.withResolvers<boolean>();
  let timer: NodeJS.Timeout | undefined;
  try {
    await runQuery(listener.listen(channel, () => heard.resolve(true)));
    await runQuery(sql.notify(channel, ""));
    timer = setTimeout(() => heard.resolve(false), HEAR_LIMIT_MS);
    return await heard.promise;
  } finally {
    clearTimeout(timer);
    await listener.end({ timeout: 0 });
  }
}
