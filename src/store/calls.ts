import type postgres from "postgres";
import {
  parentCallId,
  type Call,
  type ExtraAnswer,
  type Failure,
  type Outcome,
  type Success,
  INITIAL_CALL_STATE,
} from "../conversation/call.ts";
import type { StateChange } from "../conversation/state/state-change.ts";
import type { JsonObject } from "../lib/json.ts";
import type { Sql } from "./database/pool.ts";
import { runQuery } from "./database/store-error.ts";
import { type SessionWriter, fencingRow, lostLease, writeFenced } from "./sessions/session-writer.ts";
import { changedState } from "./sessions/session-state.ts";
import { storedBlocks, type TurnBlockRow } from "./turns/write-blocks.ts";

/** Fields of a call that have no column in `tool_calls`. They are read from other tables or not stored. */
const FIELDS_WITHOUT_COLUMN = [
  "outcome",
  "messageId",
  "participant",
  "editedInput",
  "hasStoredPermission",
  "onInterrupt",
] as const;
type FieldWithoutColumn = (typeof FIELDS_WITHOUT_COLUMN)[number];
type OutcomeField = Exclude<keyof Success | keyof Failure, "state">;

/**
 * The columns of fields that are written only once: `started_at` when the call starts, the others when it is first
 * stored.
 */
const FIXED = {
  id: "id",
  turnId: "turn_id",
  toolUseId: "tool_use_id",
  toolName: "name",
  mcpServer: "mcp_server",
  input: "input",
  timeoutMs: "timeout_ms",
  executionAsked: "execution_asked",
  idempotencyKey: "idempotency_key",
  detail: "detail",
  startedAt: "started_at",
} as const satisfies Record<
  Exclude<keyof Call, FieldWithoutColumn | keyof typeof INITIAL_CALL_STATE | "isBackground"> | "startedAt",
  string
>;

const OUTCOME = {
  result: "result",
  content: "shown",
  display: "display",
  errorCode: "error_code",
  errorMessage: "error_message",
} as const satisfies Record<OutcomeField, string>;

/**
 * The columns that change while the call is open. Fields of `INITIAL_CALL_STATE` map to their name in snake case:
 * `deadlineAt` to `deadline_at`.
 */
const CHANGING: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.keys(INITIAL_CALL_STATE)
      .filter((field) => !Object.hasOwn(FIXED, field) && !FIELDS_WITHOUT_COLUMN.some((each) => each === field))
      .map((field) => [field, field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]),
  ),
  addressee: "participant_identity",
  isBackground: "is_background",
  ...OUTCOME,
};

const COLUMNS: Readonly<Record<string, string>> = { ...FIXED, ...CHANGING };
const NAMES = Object.values(COLUMNS).join(", ");
const CHANGES = Object.values(CHANGING).map((column) => `${column} = excluded.${column}`);
const SELECTED = Object.entries(COLUMNS).map(([field, column]) => `tool_calls.${column} as "${field}"`);

/**
 * Stores a call in its current state. A stored call changes only while it is open, and only to a newer revision: the
 * first outcome wins, and storing the same revision again has no effect. When a call ends, its open permission requests
 * end as well.
 *
 * @param more blocks to store in the same statement, all of them or none; `change`, how the call changed the session's
 *   state
 * @returns how many of the blocks were new
 * @throws {AppError} `lost_lease`; `internal` if another call has the same tool use, or a block cannot be stored
 */
export async function saveCall(
  writer: SessionWriter,
  call: Call,
  {
    blocks = [],
    change,
  }: { readonly blocks?: readonly TurnBlockRow[]; readonly change?: StateChange | undefined } = {},
): Promise<number> {
  const { sql, lease } = writer;
  const alone = blocks.length === 0;
  const [row] = await runQuery(sql<{ count: number }[]>`
    with fence as materialized (${fencingRow(writer)}), ${alone ? sql`` : sql`${storedBlocks(sql, blocks)},`}
    saved as (
      insert into tool_calls (in_session, ${sql.unsafe(NAMES)})
      select ${lease.sessionId}, ${sql.unsafe(NAMES)}
      from fence, jsonb_populate_record(null::tool_calls, ${sql.json(toRow(call))})
      on conflict (id) do update set
        started_at = coalesce(tool_calls.started_at, excluded.started_at), ${sql.unsafe(CHANGES.join(", "))}
      where tool_calls.state in ('pending', 'running') and tool_calls.revision < excluded.revision
      returning id, state
    ), withdrawn as (
      update permissions
      set state = case when expires_at > now() then 'withdrawn' else 'expired' end, replied_at = now()
      from saved
      where saved.state not in ('pending', 'running') and call_id = saved.id and permissions.state = 'asked'
    )${change ? sql`, ${changedState(writer, change, "saved")}` : sql``}
    select ${alone ? sql`0` : sql`(select count(*)::int from stored)`} as count from fence
  `);
  if (!row) throw lostLease();
  return row.count;
}

/** Converts a call to JSON by column name. PostgreSQL converts each value to its column's type. */
function toRow(call: Call): JsonObject {
  const fields: Readonly<Record<string, unknown>> = { ...call, ...call.outcome };
  return Object.fromEntries(
    Object.entries(COLUMNS).map(([field, column]) => [column, toColumn(field, fields[field])]),
  ) as JsonObject;
}

/**
 * Converts times (fields whose names end with `At`) to ISO strings. Makes strings well-formed, because a model may
 * write half a surrogate pair in a name, which JSON cannot contain.
 */
function toColumn(field: string, value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  return field.endsWith("At") && typeof value === "number" ? new Date(value).toISOString() : value;
}

/** Loads a turn's calls, in the order in which the model requested them. */
export async function loadCallsOfTurn(sql: Sql, { turnId }: { readonly turnId: string }): Promise<Call[]> {
  return loadCalls(sql, sql`turn_id = ${turnId}`);
}

/** A call that is open, or whose outcome the model may not have seen. */
export interface UnsettledCall {
  readonly call: Call;
  /** The result that the model received in the call's turn: the outcome, or a receipt. */
  readonly resultInTurn: JsonObject | null;
  /** The result that reported the outcome to the model in a later turn. */
  readonly lateResult: JsonObject | null;
  /** Whether the call's turn was replaced. */
  readonly isReplaced: boolean;
}

/** Repeats the condition of the index `tool_calls_not_over`, so that PostgreSQL can use it. */
const notOver = (sql: Sql) => sql`(tool_calls.state in ('pending', 'running') or (is_background and not is_told))`;

/**
 * Loads a session's calls that are open, or whose outcome the model may not have seen, including calls in replaced
 * turns.
 */
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
    ) as "resultInTurn", (
      select result.content
      from turn_blocks as use
      join turn_blocks as result on result.turn_id = use.turn_id
        and result.block_type = 'tool_result' and result.content ->> 'tool_use_id' = use.content ->> 'tool_use_id'
      join turns as telling on telling.id = use.turn_id
      where use.block_type = 'tool_use' and use.content ->> 'tool_name' = 'call_outcome'
        and use.content -> 'input' ->> 'tool_use_id' = tool_calls.tool_use_id
        and telling.session_id = ${sessionId} and telling.superseded_by is null
      limit 1
    ) as "lateResult"
    from tool_calls join turns on turns.id = tool_calls.turn_id
    where ${isWanted}
  `);
  return calls.flatMap((call) => {
    const result = results.find(({ id }) => id === call.id);
    return result ? [{ call, ...result }] : [];
  });
}

/**
 * Loads the forms requested by these calls. A form is stored as a call whose `toolUseId` contains the requesting call's
 * id.
 */
export async function loadForms(
  sql: Sql,
  { sessionId, callIds }: { readonly sessionId: string; readonly callIds: readonly string[] },
): Promise<Call[]> {
  if (callIds.length === 0) return [];
  const asking = sql`select turn_id from tool_calls where id in ${sql(callIds)}`;
  const calls = await loadCalls(sql, sql`turn_id in (${asking}) and in_session = ${sessionId}`);
  return calls.filter((call) => callIds.includes(parentCallId(call) ?? ""));
}

/** Marks calls whose outcome the model has seen or does not need to see. */
export async function markReported(
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

/** Loads the calls of the running turn and all other open calls, oldest first. */
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

/** @returns `undefined` if the session has no stored call with this id */
export async function loadCall(
  sql: Sql,
  { sessionId, callId }: { readonly sessionId: string; readonly callId: string },
): Promise<Call | undefined> {
  const [call] = await loadCalls(sql, sql`tool_calls.id = ${callId} and session_id = ${sessionId}`);
  return call;
}

/** A row that `loadCalls` selects, without nulls. */
type Row = Omit<Call, "outcome" | "onInterrupt"> & Partial<Omit<Success, "state"> & Omit<Failure, "state">>;

async function loadCalls(sql: Sql, isWanted: postgres.Fragment): Promise<Call[]> {
  const rows = await runQuery(sql<Record<string, unknown>[]>`
    select
      ${sql.unsafe(SELECTED.join(", "))}, message_id as "messageId", turns.participant_identity as participant,
      (select edited_input from permissions where call_id = tool_calls.id and not while_running) as "editedInput",
      exists (select from permissions where call_id = tool_calls.id) as "hasStoredPermission"
    from tool_calls join turns on turns.id = turn_id
    where ${isWanted}
    order by tool_calls.created_at, tool_calls.id
  `);
  return rows.map((row) => {
    const fields = Object.entries(row).map(([field, value]) => [field, value ?? undefined]);
    return toCall(Object.fromEntries(fields) as Row);
  });
}

/** `onInterrupt` is not stored. A call loaded from the database continues when its turn is interrupted. */
function toCall({ result, content, display, errorCode, errorMessage, ...row }: Row): Call {
  const outcome = storedOutcome(row.state, { result, content, display, errorCode, errorMessage });
  return { ...row, onInterrupt: "finish", outcome };
}

function storedOutcome(
  state: Call["state"],
  { result, content, display, errorCode, errorMessage }: { readonly [Field in OutcomeField]?: Row[Field] | undefined },
): Outcome | undefined {
  if (state === "success")
    return { state, result: result ?? {}, ...(content && { content }), ...(display && { display }) };
  if (state !== "error" && state !== "cancelled") return undefined;
  const failure = { state, errorCode: errorCode ?? "execution_error", errorMessage: errorMessage ?? "" };
  return result ? { ...failure, result } : failure;
}

const MAX_EXTRA_ANSWERS = 20;

/**
 * Stores an answer that had no effect, such as a duplicate. Stores at most 20 per call, so that a client cannot grow
 * the row without limit.
 */
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
    where id = ${callId} and jsonb_array_length(extra_answers) < ${MAX_EXTRA_ANSWERS}
    returning id
  `;
  await writeFenced(writer, statement);
}
