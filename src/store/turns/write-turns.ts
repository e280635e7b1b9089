import { outcomeSubject, type TurnBlock } from "../../conversation/block.ts";
import type { AnswerProgress, InputPart, ShownContext, TurnRecord, TurnState } from "../../conversation/turn-record.ts";
import type { TurnTimings } from "../../conversation/turn-timings.ts";
import { AppError } from "../../errors/app-error.ts";
import type { JsonObject } from "../../lib/json.ts";
import { jsonParameter } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { undoneState, type Undone } from "../sessions/session-state.ts";
import { type SessionWriter, fencingRow, lostLease, writeFenced } from "../sessions/session-writer.ts";
import { recordset } from "./write-blocks.ts";

export interface NewTurnRow extends Pick<TurnRecord, "id" | "participantIdentity" | "parentMessageId" | "messageId"> {
  readonly input: readonly InputPart[];
  /**
   * The id of the first turn that the new one replaces. That turn and all later ones leave the history but stay stored.
   */
  readonly replaces?: string | undefined;
  /** Whether the turn answers a message that was already answered. @defaultValue false */
  readonly isVariation?: boolean | undefined;
  /** Whether the answer is spoken, so that its sentences are sent as they are played. @defaultValue false */
  readonly isSpoken?: boolean | undefined;
  /** What replacing the turns undoes of the session's state. @defaultValue nothing */
  readonly undone?: Undone | undefined;
  /** The blocks that the turn begins with. @defaultValue none */
  readonly blocks?: readonly TurnBlock[];
}

/**
 * How many times the insert of a turn is tried. Two turns that are inserted at the same time get the same position, so
 * one of the inserts must be retried.
 */
const ATTEMPTS = 20;

/**
 * Inserts a turn as `running`, with its blocks, and deletes the waiting message that it answers. Returns the turn's
 * position in the session, even if the turn was already inserted (a retry after a lost reply). Returns `undefined` for
 * a duplicate message: the session has another turn for this `parentMessageId`, and the new one is not a variation.
 */
export async function insertTurn(writer: SessionWriter, turn: NewTurnRow): Promise<number | undefined> {
  const { sql, lease } = writer;
  const { sessionId } = lease;
  const { id, parentMessageId, replaces = null, isVariation = false, isSpoken = false, blocks = [], undone } = turn;
  const sentences = isSpoken ? 0 : null;
  const rows = blocks.map((block) => ({ turnId: id, block }));
  const reported = blocks.flatMap((block) => outcomeSubject(block) ?? []);
  // `replaced` and `markReported` are omitted if they have nothing to change, because they scan all of a session's
  // turns or calls.
  const replaced = sql`, replaced as (
    update turns set superseded_by = begun.id from begun
    where session_id = ${sessionId} and superseded_by is null
      and turns.position >= (select position from turns where id = ${replaces})
  )`;
  const markReported = sql`, marked as (
    update tool_calls set is_told = true from begun
    where in_session = ${sessionId} and tool_use_id in ${sql(reported)}
      and (tool_calls.state in ('pending', 'running') or (is_background and not is_told))
  )`;
  const undoState = undone && replaces !== null ? sql`, ${undoneState(writer, undone, replaces)}` : sql``;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const inserted = await runQuery(sql<{ position: number | null }[]>`
      with fence as materialized (${fencingRow(writer)}), begun as (
        insert into turns
          (id, session_id, position, participant_identity, parent_message_id, is_variation, message_id, input,
            sent_sentences, heard_sentences)
        select
          ${id}, ${sessionId},
          coalesce((select position from turns where session_id = ${sessionId} order by position desc limit 1), 0) + 1,
          ${turn.participantIdentity}, ${parentMessageId}, ${isVariation}, ${turn.messageId},
          ${sql.json(turn.input.map((part) => ({ ...part })))}, ${sentences}::int, ${sentences}::int
        from fence
        on conflict do nothing
        returning id, position
      )${replaces === null ? sql`` : replaced}${reported.length === 0 ? sql`` : markReported}${undoState}, opened as (
        insert into turn_blocks (turn_id, sequence, block_type, text_content, content)
        select turn_id, sequence, block_type, text_content, content
        from ${recordset(sql, rows)} join begun on begun.id = turn_id
      ), answered as (
        delete from waiting_messages using fence where session_id = ${sessionId} and id = ${parentMessageId}
      )
      select position from fence left join begun on true
    `);
    if (inserted.length === 0) throw lostLease();
    const position = inserted[0]?.position ?? undefined;
    if (position !== undefined) return position;
    const existing = await runQuery(sql<{ id: string; position: number }[]>`
      select id, position from turns
      where session_id = ${sessionId} and (id = ${id} or (not ${isVariation} and parent_message_id = ${parentMessageId}))
    `);
    if (existing.length > 0) return existing.find((row) => row.id === id)?.position;
  }
  throw new AppError("internal", `The turn could not be given a position in ${ATTEMPTS} attempts`);
}

export interface SpeechEnd {
  /** How the turn ended, including its speech: a completed answer may be interrupted while it is spoken. */
  readonly state: Exclude<TurnState, "running">;
  /** The part of the answer that was heard before its speech was interrupted. */
  readonly heard: string | undefined;
}

export interface TurnEndRow {
  readonly turnId: string;
  readonly state: Exclude<TurnState, "running">;
  readonly stopReason?: string | undefined;
  readonly errorCode?: string | undefined;
  readonly errorMessage?: string | undefined;
  readonly model?: string | undefined;
  readonly usage?: JsonObject | undefined;
  readonly timings?: TurnTimings | undefined;
  readonly lastStanza?: number | undefined;
  /** How the answer's speech ended, if it ended before the turn. */
  readonly speech?: SpeechEnd | undefined;
  readonly context?: ShownContext | undefined;
}

/** Ends a running turn. Returns `false`, without changing anything, if the turn had already ended. */
export async function finishTurn(writer: SessionWriter, end: TurnEndRow): Promise<boolean> {
  const { sql } = writer;
  const statement = sql`
    update turns
    set state = ${end.state},
      stop_reason = ${end.stopReason ?? null},
      error_code = ${end.errorCode ?? null},
      error_message = ${end.errorMessage ?? null},
      model = ${end.model ?? null},
      usage = ${jsonParameter(sql, end.usage)},
      timings = ${jsonParameter(sql, end.timings)},
      last_stanza = ${end.lastStanza ?? null},
      heard = ${end.speech?.heard ?? null},
      spoken_at = case when ${end.speech !== undefined} then now() end,
      spoken_state = ${end.speech?.state ?? null},
      context = coalesce(${jsonParameter(sql, end.context as JsonObject | undefined)}, context),
      finished_at = now()
    from fence
    where id = ${end.turnId} and state = 'running'
    returning id
  `;
  const changed = await writeFenced(writer, statement);
  return changed.length > 0;
}

export interface SpeechEndRow extends SpeechEnd {
  readonly turnId: string;
  /** @defaultValue the timings stored at the turn's end */
  readonly timings?: TurnTimings | undefined;
  readonly lastStanza?: number;
}

/** Stores the end of the speech of a finished turn's answer. Does nothing if the turn is still running. */
export async function finishSpeech(writer: SessionWriter, end: SpeechEndRow): Promise<void> {
  const { sql } = writer;
  const statement = sql`
    update turns
    set heard = ${end.heard ?? null},
      spoken_at = now(),
      spoken_state = ${end.state},
      timings = coalesce(${jsonParameter(sql, end.timings)}, timings),
      last_stanza = ${end.lastStanza ?? null}
    from fence
    where id = ${end.turnId} and state <> 'running'
    returning id
  `;
  await writeFenced(writer, statement);
}

/** Stores the context window of a running turn. */
export async function storeContext(
  writer: SessionWriter,
  { turnId, context }: { readonly turnId: string; readonly context: ShownContext },
): Promise<void> {
  const { sql } = writer;
  const json = jsonParameter(sql, context as JsonObject);
  await writeFenced(
    writer,
    sql`update turns set context = ${json} from fence where id = ${turnId} and state = 'running' returning id`,
  );
}

/** Stores how much of the turn's answer has been spoken. */
export async function storeProgress(
  writer: SessionWriter,
  { turnId, progress }: { readonly turnId: string; readonly progress: AnswerProgress },
): Promise<void> {
  const { asides, sent = null, heard = null } = progress;
  await writeFenced(
    writer,
    writer.sql`
      update turns set asides = ${asides}, sent_sentences = ${sent}, heard_sentences = ${heard}
      from fence where id = ${turnId} returning id`,
  );
}
