import type postgres from "postgres";
import { AppError } from "../../errors/app-error.ts";
import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/** A worker's lease on a session. `epoch` is the number of the worker's claim among all claims of the session. */
export interface Lease {
  readonly sessionId: string;
  readonly epoch: number;
}

/** Everything a worker needs to write to a session that it has claimed. */
export interface SessionWriter {
  readonly sql: Sql;
  readonly lease: Lease;
}

/**
 * Returns the query for `with fence as (…)`. It selects one row, or none if the session has been claimed again. It also
 * locks the session's row: a statement in progress finishes before the next claim, and a statement that starts after
 * the claim selects no row.
 */
export function fencingRow({ sql, lease }: SessionWriter) {
  return sql`select from sessions where id = ${lease.sessionId} and epoch = ${lease.epoch} for share`;
}

/**
 * Runs one writing statement under the lease and returns its rows. The statement must read from `fence`; otherwise it
 * would write without the lease.
 *
 * @throws {AppError} `lost_lease` if the session has been claimed again: nothing was changed
 */
export async function writeFenced<Row extends object>(
  writer: SessionWriter,
  statement: postgres.Fragment,
): Promise<readonly Row[]> {
  const rows = await runQuery(writer.sql<(Row & { readonly isChanged: true | null })[]>`
    with fence as materialized (${fencingRow(writer)}), changed as (${statement})
    select changed.* from fence left join (select true as "isChanged", * from changed) as changed on true
  `);
  if (rows.length === 0) throw lostLease();
  return rows.flatMap(({ isChanged, ...row }) => (isChanged ? (row as unknown as Row) : []));
}

export function lostLease(): AppError {
  return new AppError("lost_lease", "Another worker owns the session");
}
