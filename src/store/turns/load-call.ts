import type { CallState } from "../../conversation/call.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/** A call with all its details. */
export interface WholeCall {
  readonly callId: string;
  readonly name: string;
  readonly state: CallState;
  /** The arguments that the call ran with, including edits. */
  readonly input: JsonObject;
  readonly logs: readonly string[];
  readonly result: JsonObject | null;
  /** An object that clients may show to people. */
  readonly display: JsonObject | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}

/**
 * Loads a call. Returns `undefined` if it belongs to another session, or if participants may see no more than its name.
 */
export async function loadWholeCall(
  sql: Sql,
  { sessionId, callId }: { readonly sessionId: string; readonly callId: string },
): Promise<WholeCall | undefined> {
  const [call] = await runQuery(sql<WholeCall[]>`
    select
      id as "callId", name, state, logs, result, display, error_code as "errorCode", error_message as "errorMessage",
      coalesce((select edited_input from permissions where call_id = tool_calls.id and not while_running), input) as input
    from tool_calls
    where id = ${callId} and in_session = ${sessionId} and detail = 'full'
  `);
  return call;
}
