import { type Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { callColumns, type ToolCallRecord } from "./tool-call-record.ts";

/** A session's calls that have not ended, those of replaced turns too. */
export async function loadOpenCalls(
  sql: Sql,
  { sessionId }: { readonly sessionId: string },
): Promise<ToolCallRecord[]> {
  return await runQuery(sql<ToolCallRecord[]>`
    select ${callColumns(sql)} from tool_calls join turns on turns.id = turn_id
    where session_id = ${sessionId} and tool_calls.state in ('pending', 'running')
  `);
}
