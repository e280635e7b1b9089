import type postgres from "postgres";
import type { TurnBlock } from "../../conversation/block.ts";
import { shortenedResult, SHORT_RESULT_BYTES } from "../../conversation/shorten.ts";
import { START, turnBytes } from "../../conversation/shown-context.ts";
import type { Summary } from "../../conversation/summary.ts";
import type {
  AnswerProgress,
  BlockPlace,
  InputPart,
  ShownContext,
  TurnRecord,
  TurnState,
} from "../../conversation/turn-record.ts";
import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { loadSummary } from "./summaries.ts";

/** A stored turn with its start time. */
export interface StoredTurn extends TurnRecord {
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

interface TurnRange {
  readonly sessionId: string;
  /** The first position to load. @defaultValue 1 */
  readonly from?: number;
  /** Loads only positions before this one. @defaultValue to the end */
  readonly before?: number;
  /** Large results before this place are replaced by placeholders. @defaultValue none */
  readonly shortened?: BlockPlace | undefined;
  /** The maximum number of turns. The newest ones are loaded. @defaultValue all */
  readonly limit?: number;
}

const END = 2 ** 31 - 1;

/** Loads turns of the session's history, oldest first, without replaced ones. */
export async function loadTurns(
  sql: Sql,
  { sessionId, from = 1, before = END, shortened, limit = END }: TurnRange,
): Promise<StoredTurn[]> {
  const isWanted = sql`position >= ${from} and position < ${before}`;
  const turns = await selectTurns(sql, { sessionId, isWanted, shortened, limit });
  return turns.toReversed();
}

/** Loads the session's turns that have not ended, oldest first. */
export async function loadRunningTurns(sql: Sql, { sessionId }: { readonly sessionId: string }): Promise<StoredTurn[]> {
  const turns = await selectTurns(sql, { sessionId, isWanted: sql`state = 'running'`, limit: END });
  return turns.toReversed();
}

/**
 * Loads the turn at this position if the turn has ended but the speech of its answer has not. Returns `undefined` for
 * any other turn, including an interrupted one.
 */
export async function loadUnspokenTurn(
  sql: Sql,
  { sessionId, position }: { readonly sessionId: string; readonly position: number },
): Promise<StoredTurn | undefined> {
  const isWanted = sql`position = ${position} and state in ('completed', 'failed') and ${isUnspoken(sql)}`;
  const [turn] = await selectTurns(sql, { sessionId, isWanted, limit: 1 });
  return turn;
}

/**
 * Whether the answer of a finished turn is still being spoken, or its worker died while speaking it. `last_stanza` is
 * checked too, because older versions stored it at the end of the speech, but no `spoken_at`.
 */
export function isUnspoken(sql: Sql): postgres.Fragment {
  return sql`(sent_sentences is not null and spoken_at is null and last_stanza is null)`;
}

/** The context window of the newest turn before a position, including that turn. */
export interface StoredWindow {
  readonly turns: readonly StoredTurn[];
  readonly context: ShownContext | undefined;
  /** The summary that replaces the turns before `turns`. */
  readonly summary: Summary | undefined;
}

/**
 * How many of the newest turns are searched for a stored context. Turns that ended without a model call have no
 * context.
 */
const RECENT_TURNS = 10;
const PAGE = 25;

export interface WindowLimits {
  /** The model that will be called next. Token counts of other models are ignored. */
  readonly model: string;
  /**
   * How many bytes of the newest turns to load if none of them has a stored context, as in sessions from older
   * versions.
   */
  readonly maxBytes: number;
}

type WindowRange = Pick<TurnRange, "sessionId" | "before"> & {
  /** The context of the turn that is being resumed. @defaultValue the context of the turns before it */
  readonly resumed?: ShownContext | undefined;
};

/** Loads the context window for a turn at position `before`. The window's size does not grow with the conversation. */
export async function loadWindow(
  sql: Sql,
  { sessionId, before = END, resumed, model, maxBytes }: WindowRange & WindowLimits,
): Promise<StoredWindow> {
  const newest = await runQuery(sql<{ context: ShownContext | null; model: string | null }[]>`
    select context, model from turns
    where session_id = ${sessionId} and superseded_by is null and position < ${before}
    order by position desc limit ${RECENT_TURNS}
  `);
  const newestShown = newest.find((row) => row.context !== null);
  const shownLast = resumed ?? newestShown?.context;
  if (shownLast) {
    const { measured, ...shown } = shownLast;
    const context = { ...shown, ...(measured && !resumed && newestShown?.model === model && { measured }) };
    const [turns, summary] = await Promise.all([
      loadTurns(sql, { sessionId, before, ...shown }),
      shown.summary === undefined ? undefined : loadSummary(sql, { id: shown.summary }),
    ]);
    return { turns, context, summary };
  }
  const turns = await loadNewestTurns(sql, { sessionId, before, maxBytes });
  return { turns, context: undefined, summary: undefined };
}

/** Loads the newest turns of a range, oldest first, up to `maxBytes`. Loads at least one turn if there is any. */
export async function loadNewestTurns(
  sql: Sql,
  { before = END, maxBytes, ...range }: Omit<TurnRange, "limit"> & Pick<WindowLimits, "maxBytes">,
): Promise<StoredTurn[]> {
  const turns: StoredTurn[] = [];
  for (let bytes = 0; bytes < maxBytes;) {
    const page = await loadTurns(sql, { ...range, before: turns[0]?.position ?? before, limit: PAGE });
    const tooMuch = page.findLastIndex((turn) => (bytes += turnBytes(turn)) > maxBytes);
    turns.unshift(...page.slice(Math.min(tooMuch + 1, page.length - 1)));
    if (page.length < PAGE) break;
  }
  return turns;
}

interface TurnRow {
  id: string;
  position: number;
  participant_identity: string;
  parent_message_id: string | null;
  message_id: string;
  input: InputPart[];
  state: TurnState;
  error_code: string | null;
  last_stop_reason: string | null;
  created_at: number;
  progress: AnswerProgress | null;
  heard: string | null;
  context: ShownContext | null;
  /** The blocks, with the keys of `TurnBlock`. `hidden` is the size of a result that was not loaded. */
  blocks: (TurnBlock & { readonly hidden: number | null })[];
}

interface Selection {
  readonly sessionId: string;
  readonly isWanted: postgres.Fragment;
  readonly shortened?: BlockPlace | undefined;
  readonly limit: number;
}

/** Loads turns of the history, newest first. The blocks of a turn are in order and from one snapshot. */
async function selectTurns(
  sql: Sql,
  { sessionId, isWanted, shortened = START, limit }: Selection,
): Promise<StoredTurn[]> {
  const rows = await runQuery(sql<TurnRow[]>`
    select
      id, position, participant_identity, parent_message_id, message_id, input, state, error_code, created_at,
      heard, context,
      case when state = 'running' or ${isUnspoken(sql)} then jsonb_strip_nulls(jsonb_build_object(
        'asides', asides, 'sent', sent_sentences, 'heard', heard_sentences
      )) end as progress,
      case state when 'running' then (
        select turn_blocks.stop_reason from turn_blocks where turn_id = turns.id order by sequence desc limit 1
      ) end as last_stop_reason, (
        select coalesce(
          json_agg(
            json_build_object(
              'sequence', sequence, 'blockType', block_type, 'textContent', text_content,
              'content', case when hidden is null then content else content - 'content' end, 'hidden', hidden
            ) order by sequence
          ),
          '[]'
        )
        from turn_blocks, lateral (
          select case
            when (turns.position, sequence) < (${shortened.position}::int, ${shortened.sequence}::int)
              and block_type = 'tool_result' and jsonb_typeof(content -> 'content') = 'string'
              and octet_length(content ->> 'content') > ${SHORT_RESULT_BYTES}
            then octet_length(content ->> 'content')
          end as hidden
        ) as size
        where turn_id = turns.id
      ) as blocks
    from turns
    where session_id = ${sessionId} and superseded_by is null and ${isWanted}
    order by position desc
    limit ${limit}
  `);
  return rows.map(toStoredTurn);
}

function toStoredTurn(row: TurnRow): StoredTurn {
  return {
    id: row.id,
    position: row.position,
    participantIdentity: row.participant_identity,
    parentMessageId: row.parent_message_id,
    messageId: row.message_id,
    input: row.input,
    state: row.state,
    errorCode: row.error_code ?? undefined,
    lastStopReason: row.last_stop_reason ?? undefined,
    createdAt: row.created_at,
    blocks: row.blocks.map(({ hidden, ...block }) => (hidden === null ? block : shortenedResult(block, hidden))),
    progress: row.progress ?? undefined,
    heard: row.heard ?? undefined,
    context: row.context ?? undefined,
  };
}
