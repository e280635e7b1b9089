import { type RecordPoint } from "./load-turns-after.ts";
import { type Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/** Whether the session's record has this point. Before its first turn is a point of every record. */
export async function hasRecordPoint(
  sql: Sql,
  { sessionId, point: { position, sequence } }: { readonly sessionId: string; readonly point: RecordPoint },
): Promise<boolean> {
  if (position === 0) return sequence === "end";
  const rows = await runQuery(sql`
    select from turns
    where session_id = ${sessionId} and position = ${position} and ${
      sequence === "end"
        ? sql`state <> 'running'`
        : sql`exists (select from turn_blocks where turn_id = turns.id and sequence = ${sequence})`
    }
  `);
  return rows.length > 0;
}

/** The end of the last turn that has ended: what comes after it is going on now. */
export async function findLastEnd(sql: Sql, { sessionId }: { readonly sessionId: string }): Promise<RecordPoint> {
  const [row] = await runQuery(sql<{ position: number }[]>`
    select coalesce(max(position), 0) as position from turns
    where session_id = ${sessionId} and state <> 'running'
  `);
  return { position: row?.position ?? 0, sequence: "end" };
}

/** The place of a turn, from 1; `undefined` while it is not stored. */
export async function findTurnPosition(sql: Sql, { turnId }: { readonly turnId: string }): Promise<number | undefined> {
  const [row] = await runQuery(sql<{ position: number }[]>`select position from turns where id = ${turnId}`);
  return row?.position;
}
