import { OUTCOME_TOOL, type TurnBlock } from "../../conversation/block.ts";
import type { TurnRecord } from "../../conversation/turn-record.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { isUnspoken } from "./load-turns.ts";

/** A turn without its blocks. */
export type FoundTurn = Pick<
  TurnRecord,
  "id" | "messageId" | "position" | "parentMessageId" | "participantIdentity" | "input"
>;

/**
 * Returns a subquery for an `in`. It selects the ids of a session's turns that contain this user or assistant message.
 * It is a union, so that each half uses its own index.
 */
export function idsOfMessage(sql: Sql, { sessionId, messageId }: { sessionId: string; messageId: string }) {
  return sql`(
    select id from turns where session_id = ${sessionId} and message_id = ${messageId}
    union
    select id from turns where session_id = ${sessionId} and parent_message_id = ${messageId}
  )`;
}

/**
 * Finds the turn in the history that contains this user or assistant message. If several turns answer the same message,
 * returns the first one; the other turns continue that turn's answer.
 */
export async function findTurn(
  sql: Sql,
  message: { readonly sessionId: string; readonly messageId: string },
): Promise<FoundTurn | undefined> {
  const [turn] = await runQuery(sql<FoundTurn[]>`
    select id, message_id as "messageId", position, parent_message_id as "parentMessageId",
      participant_identity as "participantIdentity", input
    from turns
    where id in ${idsOfMessage(sql, message)} and superseded_by is null
    order by position limit 1
  `);
  return turn;
}

/** Whether a session contains a user message, an assistant message or a call with this id, even in a replaced turn. */
export async function hasMessageOrCall(
  sql: Sql,
  { sessionId, id }: { readonly sessionId: string; readonly id: string },
): Promise<boolean> {
  const [row] = await runQuery(sql<{ has: boolean }[]>`
    select exists (select from tool_calls where id = ${id} and in_session = ${sessionId})
      or exists ${idsOfMessage(sql, { sessionId, messageId: id })} as has
  `);
  return row?.has ?? false;
}

/** Whether a session has a turn of this participant, replaced or not. */
export async function hasTurnsOf(
  sql: Sql,
  { sessionId, identity }: { readonly sessionId: string; readonly identity: string },
): Promise<boolean> {
  const [row] = await runQuery(sql<{ has: boolean }[]>`
    select exists (
      select from turns where session_id = ${sessionId} and participant_identity = ${identity}
    ) as has
  `);
  return row?.has ?? false;
}

/** Returns the position of the session's newest turn, replaced or not, or 0 if it has no turns. */
export async function loadLastPosition(sql: Sql, { sessionId }: { readonly sessionId: string }): Promise<number> {
  const [row] = await runQuery(sql<{ position: number }[]>`
    select position from turns where session_id = ${sessionId} order by position desc limit 1
  `);
  return row?.position ?? 0;
}

/** Loads the token usage of a finished turn, or `undefined` if it is not stored. */
export async function loadUsage(
  sql: Sql,
  { sessionId, position }: { readonly sessionId: string; readonly position: number },
): Promise<JsonObject | undefined> {
  const [row] = await runQuery(sql<{ usage: JsonObject | null }[]>`
    select usage from turns where session_id = ${sessionId} and position = ${position}
  `);
  return row?.usage ?? undefined;
}

/** Loads the ids of the user messages that the session's newest turns answered, oldest first. */
export async function loadMessageIds(
  sql: Sql,
  { sessionId, limit }: { readonly sessionId: string; readonly limit: number },
): Promise<string[]> {
  const rows = await runQuery(sql<{ id: string | null }[]>`
    select parent_message_id as id from turns where session_id = ${sessionId} order by position desc limit ${limit}
  `);
  return rows.flatMap(({ id }) => id ?? []).toReversed();
}

/** Whether the session's newest turn ended at most `withinMs` ago, by the database's clock. */
export async function hasRecentTurn(
  sql: Sql,
  { sessionId, withinMs }: { readonly sessionId: string; readonly withinMs: number },
): Promise<boolean> {
  const [row] = await runQuery(sql<{ isRecent: boolean }[]>`
    select coalesce(spoken_at, finished_at, created_at) >= now() - ${withinMs} * interval '1 millisecond' as "isRecent"
    from turns where session_id = ${sessionId} order by position desc limit 1
  `);
  return row?.isRecent ?? false;
}

/**
 * Loads the blocks that report late outcomes in turns from position `from` on. Includes only outcomes of calls that
 * began in a turn before `from`.
 */
export async function loadReportedOutcomes(
  sql: Sql,
  { sessionId, from }: { readonly sessionId: string; readonly from: number },
): Promise<Omit<TurnBlock, "sequence">[]> {
  const rows = await runQuery(sql<{ use: TurnBlock["content"]; result: TurnBlock["content"] }[]>`
    select use.content as use, result.content as result
    from turns
    join turn_blocks as use on use.turn_id = turns.id
      and use.block_type = 'tool_use' and use.content ->> 'tool_name' = ${OUTCOME_TOOL}
    join turn_blocks as result on result.turn_id = turns.id
      and result.block_type = 'tool_result' and result.content ->> 'tool_use_id' = use.content ->> 'tool_use_id'
    where turns.session_id = ${sessionId} and turns.superseded_by is null and turns.position >= ${from}
      and exists (
        select from tool_calls join turns as promising on promising.id = tool_calls.turn_id
        where in_session = ${sessionId} and tool_use_id = use.content -> 'input' ->> 'tool_use_id'
          and promising.position < ${from} and promising.superseded_by is null
      )
    order by turns.position, use.sequence
  `);
  return rows.flatMap(({ use, result }) => [
    { blockType: "tool_use", textContent: null, content: use },
    { blockType: "tool_result", textContent: null, content: result },
  ]);
}

/** The text of an answer, for a client that missed it. */
export interface StoredAnswer {
  readonly messageId: string;
  readonly parentMessageId: string | null;
  readonly texts: readonly string[];
  /**
   * The worker's last stanza number when the answer ended, as a positive number; `null` if the worker did not end it.
   */
  readonly lastStanza: number | null;
}

/**
 * Loads the newest answers (at most `limit`) that ended between two of the worker's stanzas, oldest first. An answer
 * that its worker did not end is selected by its position among the other answers.
 */
export async function loadAnswers(
  sql: Sql,
  { sessionId, after, until, limit }: { sessionId: string; after: number; until: number; limit: number },
): Promise<StoredAnswer[]> {
  const stanzas = sql`select position from turns where session_id = ${sessionId} and last_stanza`;
  const rows = await runQuery(sql<StoredAnswer[]>`
    select message_id as "messageId", parent_message_id as "parentMessageId", last_stanza::float8 as "lastStanza", (
      select coalesce(json_agg(text_content order by sequence), '[]') from turn_blocks
      where turn_id = turns.id and block_type = 'text' and text_content is not null
    ) as texts
    from turns
    where session_id = ${sessionId} and superseded_by is null and state <> 'running' and not ${isUnspoken(sql)}
      and position > coalesce((${stanzas} <= ${after} order by last_stanza desc limit 1), 0)
      and position < coalesce((${stanzas} > ${until} order by last_stanza limit 1), ${2 ** 31 - 1})
    order by position desc limit ${limit}
  `);
  return rows.toReversed();
}
