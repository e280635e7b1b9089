import { type Call, type Outcome } from "../../conversation/call.ts";
import { type JsonObject } from "../../lib/json.ts";
import { type Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/** A turn's calls, in the order in which they were asked for. */
export async function loadCallsOfTurn(sql: Sql, { turnId }: { readonly turnId: string }): Promise<Call[]> {
  return loadCalls(sql, sql`turn_id = ${turnId}`);
}

/** A session's calls that have not ended, those of replaced turns too. */
export async function loadOpenCalls(sql: Sql, { sessionId }: { readonly sessionId: string }): Promise<Call[]> {
  return loadCalls(sql, sql`session_id = ${sessionId} and tool_calls.state in ('pending', 'running')`);
}

/** The calls of the turn that is running, and those that outlived their turn and are open, oldest first. */
export async function loadCallsNow(sql: Sql, { sessionId }: { readonly sessionId: string }): Promise<Call[]> {
  const isNow = sql`(turns.state = 'running' or tool_calls.state in ('pending', 'running'))`;
  return loadCalls(sql, sql`session_id = ${sessionId} and ${isNow}`);
}

/** `undefined` for a call that is not stored, or not in this session. */
export async function loadCall(
  sql: Sql,
  { sessionId, callId }: { readonly sessionId: string; readonly callId: string },
): Promise<Call | undefined> {
  const [call] = await loadCalls(sql, sql`tool_calls.id = ${callId} and session_id = ${sessionId}`);
  return call;
}

/** What the table has in columns of its own. */
interface Row extends Omit<Call, "outcome" | "onInterrupt" | "editedInput"> {
  readonly result: JsonObject | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly editedInput: JsonObject | null;
}

async function loadCalls(sql: Sql, isWanted: ReturnType<Sql>): Promise<Call[]> {
  const rows = await runQuery(sql<Row[]>`
    select
      tool_calls.id, turn_id as "turnId", message_id as "messageId", turns.participant_identity as participant,
      tool_use_id as "toolUseId", name as "toolName", tool_calls.input, timeout_ms as "timeoutMs",
      execution_asked as "executionAsked", execution_resolved as "executionResolved",
      tool_calls.participant_identity as addressee, idempotency_key as "idempotencyKey",
      is_background as "isBackground", tool_calls.state, started_at as "startedAt", deadline_at as "deadlineAt",
      tool_calls.finished_at as "finishedAt", revision, logs, progress, detail,
      result, tool_calls.error_code as "errorCode", tool_calls.error_message as "errorMessage",
      (select edited_input from permissions where call_id = tool_calls.id and not while_running) as "editedInput",
      exists (select from permissions where call_id = tool_calls.id) as "wasAskedFor"
    from tool_calls join turns on turns.id = turn_id
    where ${isWanted}
    order by tool_calls.created_at, tool_calls.id
  `);
  return rows.map(toCall);
}

/** `onInterrupt` is not stored: a call that an earlier worker left is let finish. */
function toCall({ result, errorCode, errorMessage, editedInput, ...row }: Row): Call {
  return {
    ...row,
    onInterrupt: "finish",
    executionResolved: row.executionResolved ?? undefined,
    addressee: row.addressee ?? undefined,
    startedAt: row.startedAt ?? undefined,
    deadlineAt: row.deadlineAt ?? undefined,
    finishedAt: row.finishedAt ?? undefined,
    progress: row.progress ?? undefined,
    outcome: storedOutcome(row.state, { result, errorCode, errorMessage }),
    ...(editedInput && { editedInput }),
  };
}

function storedOutcome(
  state: Call["state"],
  { result, errorCode, errorMessage }: Pick<Row, "result" | "errorCode" | "errorMessage">,
): Outcome | undefined {
  if (state === "success") return { state, result: result ?? {} };
  if (state !== "error" && state !== "cancelled") return undefined;
  const failure = { state, errorCode: errorCode ?? "execution_error", errorMessage: errorMessage ?? "" };
  return result ? { ...failure, result } : failure;
}
