import { type Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { callColumns, type ToolCallRecord } from "./tool-call-record.ts";

/** A call with what of its turn is shown beside it. */
export interface ShownCall extends ToolCallRecord {
  readonly messageId: string;
  readonly participantIdentity: string;
}

/** `undefined` for a call that is not stored, or not in this session. */
export async function loadShownCall(
  sql: Sql,
  { sessionId, callId }: { readonly sessionId: string; readonly callId: string },
): Promise<ShownCall | undefined> {
  const [call] = await runQuery(sql<ShownCall[]>`
    ${selectShown(sql)}
    where tool_calls.id = ${callId} and session_id = ${sessionId}
  `);
  return call;
}

/** The calls of the turn that is running, and those that outlived their turn and are open, oldest first. */
export async function loadCallsNow(sql: Sql, { sessionId }: { readonly sessionId: string }): Promise<ShownCall[]> {
  return await runQuery(sql<ShownCall[]>`
    ${selectShown(sql)}
    where session_id = ${sessionId}
      and (turns.state = 'running' or tool_calls.state in ('pending', 'running'))
    order by tool_calls.created_at, tool_calls.id
  `);
}

function selectShown(sql: Sql) {
  return sql`
    select ${callColumns(sql)}, message_id as "messageId", turns.participant_identity as "participantIdentity"
    from tool_calls join turns on turns.id = turn_id
  `;
}
