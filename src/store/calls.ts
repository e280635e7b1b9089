import type postgres from "postgres";
import { asksFor, type Call, type ExtraAnswer, type Outcome } from "../conversation/call.ts";
import type { ContentBlock } from "../conversation/content.ts";
import type { JsonObject } from "../lib/json.ts";
import { type Sql, jsonParameter } from "./database/pool.ts";
import { runQuery } from "./database/store-error.ts";
import { type SessionWriter, fencingRow, lostLease, writeFenced } from "./sessions/session-writer.ts";

/**
 * Stores a call as it is now. A stored call is changed only while it is open, and only by a newer revision: the first
 * end wins, and storing it again changes nothing. When a call ends, its open permission requests end with it.
 *
 * @throws {AppError} `lost_lease`; `internal` for another call of the same tool use
 */
export async function saveCall({ sql, lease }: SessionWriter, call: Call): Promise<void> {
  const { outcome } = call;
  const failure = outcome && "errorCode" in outcome ? outcome : undefined;
  const success = outcome?.state === "success" ? outcome : undefined;
  const time = (at: number | undefined) => (at === undefined ? null : sql.types.timestamp(at));
  const rows = await runQuery(sql`
    with fence as materialized (${fencingRow({ sql, lease })}), saved as (
      insert into tool_calls (
        id, turn_id, in_session, tool_use_id, name, execution_asked, timeout_ms, idempotency_key, input, detail, state,
        execution_resolved, participant_identity, started_at, deadline_at, is_background, logs, progress,
        result, shown, display, error_code, error_message, finished_at, revision
      ) select
        ${call.id}, ${call.turnId}, ${lease.sessionId}, ${call.toolUseId}, ${call.toolName}, ${call.executionAsked}, ${call.timeoutMs},
        ${call.idempotencyKey}, ${sql.json(call.input)}, ${call.detail}, ${call.state},
        ${call.executionResolved ?? null}, ${call.addressee ?? null}, ${time(call.startedAt)}::timestamptz,
        ${time(call.deadlineAt)}::timestamptz, ${call.isBackground}, ${sql.json(call.logs)}, ${call.progress ?? null}::real,
        ${jsonParameter(sql, outcome?.result)}::jsonb, ${jsonParameter(sql, success?.content)}::jsonb,
        ${jsonParameter(sql, success?.display)}::jsonb, ${failure?.errorCode ?? null}, ${failure?.errorMessage ?? null},
        ${time(call.finishedAt)}::timestamptz, ${call.revision}
      from fence
      on conflict (id) do update set
        state = excluded.state,
        execution_resolved = excluded.execution_resolved,
        participant_identity = excluded.participant_identity,
        started_at = coalesce(tool_calls.started_at, excluded.started_at),
        deadline_at = excluded.deadline_at,
        is_background = excluded.is_background,
        logs = excluded.logs,
        progress = excluded.progress,
        result = excluded.result,
        shown = excluded.shown,
        display = excluded.display,
        error_code = excluded.error_code,
        error_message = excluded.error_message,
        finished_at = excluded.finished_at,
        revision = excluded.revision
      where tool_calls.state in ('pending', 'running') and tool_calls.revision < excluded.revision
      returning id, state
    ), withdrawn as (
      update permissions
      set state = case when expires_at > now() then 'withdrawn' else 'expired' end, replied_at = now()
      from saved
      where saved.state not in ('pending', 'running') and call_id = saved.id and permissions.state = 'asked'
    )
    select from fence
  `);
  if (rows.length === 0) throw lostLease();
}

/** A turn's calls, in the order in which they were asked for. */
export async function loadCallsOfTurn(sql: Sql, { turnId }: { readonly turnId: string }): Promise<Call[]> {
  return loadCalls(sql, sql`turn_id = ${turnId}`);
}

/** A call that is open, or of whose end the model may not know. */
export interface UnsettledCall {
  readonly call: Call;
  /** The result that its turn was given: the outcome, or a promise of it. */
  readonly given: JsonObject | null;
  /** The result in which the outcome was told later. */
  readonly told: JsonObject | null;
  /** Its turn has left the history. */
  readonly isReplaced: boolean;
}

/** The index `tool_calls_not_over` has these calls alone. */
const notOver = (sql: Sql) => sql`(tool_calls.state in ('pending', 'running') or (is_background and not is_told))`;

/** A session's calls that are open, or of whose end the model may not know; also those of replaced turns. */
export async function loadUnsettledCalls(
  sql: Sql,
  { sessionId }: { readonly sessionId: string },
): Promise<UnsettledCall[]> {
  const isWanted = sql`in_session = ${sessionId} and ${notOver(sql)}`;
  const calls = await loadCalls(sql, isWanted);
  if (calls.length === 0) return [];
  const results = await runQuery(sql<(Omit<UnsettledCall, "call"> & { readonly id: string })[]>`
    select tool_calls.id, superseded_by is not null as "isReplaced", (
      select content from turn_blocks
      where turn_id = tool_calls.turn_id and block_type = 'tool_result' and content ->> 'tool_use_id' = tool_use_id
      order by sequence limit 1
    ) as given, (
      select result.content
      from turn_blocks as use
      join turn_blocks as result on result.turn_id = use.turn_id
        and result.block_type = 'tool_result' and result.content ->> 'tool_use_id' = use.content ->> 'tool_use_id'
      join turns as telling on telling.id = use.turn_id
      where use.block_type = 'tool_use' and use.content ->> 'tool_name' = 'call_outcome'
        and use.content -> 'input' ->> 'tool_use_id' = tool_calls.tool_use_id
        and telling.session_id = ${sessionId} and telling.superseded_by is null
      limit 1
    ) as told
    from tool_calls join turns on turns.id = tool_calls.turn_id
    where ${isWanted}
  `);
  return calls.flatMap((call) => {
    const result = results.find(({ id }) => id === call.id);
    return result ? [{ call, ...result }] : [];
  });
}

/** What these calls had somebody fill in: calls too, whose `toolUseId` names the call that asks. */
export async function loadForms(
  sql: Sql,
  { sessionId, callIds }: { readonly sessionId: string; readonly callIds: readonly string[] },
): Promise<Call[]> {
  if (callIds.length === 0) return [];
  const asking = sql`select turn_id from tool_calls where id in ${sql(callIds)}`;
  const calls = await loadCalls(sql, sql`turn_id in (${asking}) and in_session = ${sessionId}`);
  return calls.filter((call) => callIds.includes(asksFor(call) ?? ""));
}

/** The model knows how these calls ended, or was not promised to hear of it. */
export async function markTold(
  writer: SessionWriter,
  { callIds }: { readonly callIds: readonly string[] },
): Promise<void> {
  if (callIds.length === 0) return;
  const { sql } = writer;
  await writeFenced(
    writer,
    sql`update tool_calls set is_told = true from fence where id in ${sql(callIds)} returning id`,
  );
}

/** The calls of the running turn, and all other open calls, oldest first. */
export async function loadCallsNow(sql: Sql, { sessionId }: { readonly sessionId: string }): Promise<Call[]> {
  return loadCalls(
    sql,
    sql`tool_calls.id in (
      select id from tool_calls where in_session = ${sessionId} and state in ('pending', 'running') and ${notOver(sql)}
      union
      select tool_calls.id from tool_calls join turns on turns.id = turn_id
      where turns.session_id = ${sessionId} and turns.state = 'running'
    )`,
  );
}

/** `undefined` for a call that is not stored, or not in this session. */
export async function loadCall(
  sql: Sql,
  { sessionId, callId }: { readonly sessionId: string; readonly callId: string },
): Promise<Call | undefined> {
  const [call] = await loadCalls(sql, sql`tool_calls.id = ${callId} and session_id = ${sessionId}`);
  return call;
}

/**
 * A row of the query below, which must select each field that is listed here. A field of `Call` that is missing here
 * is a type error in `toCall`.
 */
interface Row extends Pick<
  Call,
  | "id"
  | "turnId"
  | "messageId"
  | "participant"
  | "toolUseId"
  | "toolName"
  | "input"
  | "timeoutMs"
  | "executionAsked"
  | "executionResolved"
  | "addressee"
  | "idempotencyKey"
  | "isBackground"
  | "state"
  | "startedAt"
  | "deadlineAt"
  | "finishedAt"
  | "revision"
  | "logs"
  | "progress"
  | "detail"
  | "permissionAsked"
> {
  readonly result: JsonObject | null;
  readonly content: readonly ContentBlock[] | null;
  readonly display: JsonObject | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly editedInput: JsonObject | null;
}

async function loadCalls(sql: Sql, isWanted: postgres.Fragment): Promise<Call[]> {
  const rows = await runQuery(sql<Row[]>`
    select
      tool_calls.id, turn_id as "turnId", message_id as "messageId", turns.participant_identity as participant,
      tool_use_id as "toolUseId", name as "toolName", tool_calls.input, timeout_ms as "timeoutMs",
      execution_asked as "executionAsked", execution_resolved as "executionResolved",
      tool_calls.participant_identity as addressee, idempotency_key as "idempotencyKey",
      is_background as "isBackground", tool_calls.state, started_at as "startedAt", deadline_at as "deadlineAt",
      tool_calls.finished_at as "finishedAt", revision, logs, progress, detail,
      result, shown as content, display, tool_calls.error_code as "errorCode", tool_calls.error_message as "errorMessage",
      (select edited_input from permissions where call_id = tool_calls.id and not while_running) as "editedInput",
      exists (select from permissions where call_id = tool_calls.id) as "permissionAsked"
    from tool_calls join turns on turns.id = turn_id
    where ${isWanted}
    order by tool_calls.created_at, tool_calls.id
  `);
  return rows.map(toCall);
}

/** `onInterrupt` is not stored: a call of an earlier worker goes on when it is interrupted. */
function toCall({ result, content, display, errorCode, errorMessage, editedInput, ...row }: Row): Call {
  return {
    ...row,
    onInterrupt: "finish",
    executionResolved: row.executionResolved ?? undefined,
    addressee: row.addressee ?? undefined,
    startedAt: row.startedAt ?? undefined,
    deadlineAt: row.deadlineAt ?? undefined,
    finishedAt: row.finishedAt ?? undefined,
    progress: row.progress ?? undefined,
    outcome: storedOutcome(row.state, { result, content, display, errorCode, errorMessage }),
    ...(editedInput && { editedInput }),
  };
}

type StoredOutcome = Pick<Row, "result" | "content" | "display" | "errorCode" | "errorMessage">;

function storedOutcome(
  state: Call["state"],
  { result, content, display, errorCode, errorMessage }: StoredOutcome,
): Outcome | undefined {
  if (state === "success")
    return { state, result: result ?? {}, ...(content && { content }), ...(display && { display }) };
  if (state !== "error" && state !== "cancelled") return undefined;
  const failure = { state, errorCode: errorCode ?? "execution_error", errorMessage: errorMessage ?? "" };
  return result ? { ...failure, result } : failure;
}

const KEPT = 20;

/** Stores an answer that changed nothing. Only the first 20 of a call, so that a client cannot make the row grow. */
export async function recordExtraAnswer(
  writer: SessionWriter,
  { callId, answer }: { readonly callId: string; readonly answer: ExtraAnswer },
): Promise<void> {
  const statement = writer.sql`
    update tool_calls
    set extra_answers = extra_answers || jsonb_build_object(
      'kind', ${answer.kind}::text,
      'from', ${answer.from}::text,
      'at', floor(extract(epoch from now()) * 1000),
      'success', ${answer.success}::boolean,
      'errorCode', ${answer.errorCode ?? null}::text
    )
    from fence
    where id = ${callId} and jsonb_array_length(extra_answers) < ${KEPT}
    returning id
  `;
  await writeFenced(writer, statement);
}
