import type { CallState } from "../../conversation/call.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

export interface StoredResult {
  readonly toolUseId: string;
  readonly toolName: string | null;
  /** When the turn began, in Unix ms. */
  readonly at: number;
  /** The call's state; `null` if there is no call for this result. */
  readonly state: CallState | null;
  readonly result: JsonObject | null;
  readonly errorMessage: string | null;
  /** The result as the model saw it; may be truncated. */
  readonly told: string | null;
}

/** Returns the id of the session that a call belongs to. */
export async function findSessionOfCall(
  sql: Sql,
  { callId }: { readonly callId: string },
): Promise<string | undefined> {
  const [row] = await runQuery(sql<{ id: string }[]>`
    select session_id as id from tool_calls join turns on turns.id = turn_id where tool_calls.id = ${callId}
  `);
  return row?.id;
}

/** Returns the result of a call in the session, given the id of the call or of its tool use. */
export async function findResult(
  sql: Sql,
  { sessionId, id }: { readonly sessionId: string; readonly id: string },
): Promise<StoredResult | undefined> {
  const [row] = await runQuery(sql<StoredResult[]>`
    with wanted as (
      select turn_id, tool_use_id from tool_calls where id = ${id}
      union
      select turn_id, ${id} from turn_blocks where block_type = 'tool_result' and content ->> 'tool_use_id' = ${id}
    )
    select
      wanted.tool_use_id as "toolUseId", turns.created_at as at, tool_calls.state, result,
      tool_calls.error_message as "errorMessage", told.content ->> 'content' as told,
      coalesce(name, use.content ->> 'tool_name') as "toolName"
    from wanted
    join turns on turns.id = wanted.turn_id and session_id = ${sessionId}
    left join tool_calls on tool_calls.turn_id = wanted.turn_id and tool_calls.tool_use_id = wanted.tool_use_id
    left join turn_blocks as told on told.turn_id = wanted.turn_id and told.block_type = 'tool_result'
      and told.content ->> 'tool_use_id' = wanted.tool_use_id
    left join turn_blocks as use on use.turn_id = wanted.turn_id and use.block_type = 'tool_use'
      and use.content ->> 'tool_use_id' = wanted.tool_use_id
    order by turns.position desc
    limit 1
  `);
  return row;
}
