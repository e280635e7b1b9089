import { type Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { callColumns, type ToolCallRecord } from "./tool-call-record.ts";

/** A turn's calls, in the order in which they were asked for. */
export async function loadToolCalls(sql: Sql, { turnId }: { turnId: string }): Promise<ToolCallRecord[]> {
  return await runQuery(sql<ToolCallRecord[]>`
    select ${callColumns(sql)} from tool_calls where turn_id = ${turnId} order by created_at, id
  `);
}
