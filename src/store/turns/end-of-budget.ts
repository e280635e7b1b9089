import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

interface Budget {
  readonly sessionId: string;
  /** Measures only turns before this position. */
  readonly before: number;
  readonly maxBytes: number;
}

/**
 * Finds out how many of the session's first turns, with their blocks and calls, fit into `maxBytes`. PostgreSQL
 * measures them, so that they need not be loaded.
 *
 * @returns the position of the first turn that does not fit, or `before` if all do
 */
export async function endOfBudget(sql: Sql, { sessionId, before, maxBytes }: Budget): Promise<number> {
  const [row] = await runQuery(sql<{ end: number }[]>`
    select min(position) as end
    from (
      select position, sum(bytes) over (order by position) as bytes
      from turns, lateral (
        select octet_length(turns::text)
          + (select coalesce(sum(octet_length(block::text)), 0) from turn_blocks as block where turn_id = turns.id)
          + (select coalesce(sum(octet_length(call::text)), 0) from tool_calls as call where turn_id = turns.id) as bytes
      ) as size
      where session_id = ${sessionId} and superseded_by is null and position < ${before}
    ) as measured
    where bytes > ${maxBytes}
  `);
  return row?.end ?? before;
}
