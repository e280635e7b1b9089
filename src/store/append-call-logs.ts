import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

export interface CallLogs {
  readonly callId: string;
  readonly lines: readonly string[];
}

/** As in the JSON path below. */
const KEPT = 1_000;

/** Adds lines to a call's log, also after its end. What comes when the log has 1000 lines is dropped. */
export async function appendCallLogs(sql: Sql, { callId, lines }: CallLogs): Promise<void> {
  if (lines.length === 0) return;
  await runQuery(sql`
    update tool_calls
    set logs = jsonb_path_query_array(logs || ${sql.json(lines.slice(0, KEPT))}, '$[0 to 999]')
    where id = ${callId} and jsonb_array_length(logs) < ${KEPT}
  `);
}
