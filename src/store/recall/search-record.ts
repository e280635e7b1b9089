import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

export interface RecordSearch {
  readonly sessionId: string;
  /** Words that must all occur in a turn, whole or as prefixes of longer words. If empty, every turn matches. */
  readonly words: readonly string[];
  /** Limits the search to text from the agent, the tools or one participant. @defaultValue everybody */
  readonly speaker?: "agent" | "tool" | { readonly participant: string } | undefined;
  /** Searches only uses and results of this tool. */
  readonly tool?: string | undefined;
  /** Unix ms. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly limit: number;
}

/** A matching excerpt of a turn. */
export interface FoundPiece {
  readonly turn: number;
  /** When the turn began, in Unix ms. */
  readonly at: number;
  readonly speaker: "participant" | "agent" | "tool";
  /** The participant whose turn it is. */
  readonly participant: string;
  readonly toolName: string | null;
  readonly toolUseId: string | null;
  /** The text around the words, or the beginning of the piece if no words were searched for. */
  readonly excerpt: string;
}

/** The maximum number of pieces per turn. */
const MAX_PIECES = 3;
/**
 * Pieces of up to this many characters are returned whole. If no words are searched for, longer pieces are cut to this
 * length.
 */
const WHOLE = 300;

/**
 * Searches a session's finished turns, newest first and without replaced ones. Returns the first matching pieces of
 * each turn, or `undefined` if the words contain neither letters nor digits.
 */
export async function searchRecord(sql: Sql, search: RecordSearch): Promise<readonly FoundPiece[] | undefined> {
  const { sessionId, words, speaker, tool, from, to, limit } = search;
  const kind = tool === undefined ? (typeof speaker === "object" ? "participant" : speaker) : "tool";
  const terms = words.map((word) => `'${word.replaceAll("\\", "\\\\").replaceAll("'", "''")}':*`);
  const all = sql`to_tsquery('simple', ${terms.join(" & ")})`;
  const any = sql`to_tsquery('simple', ${terms.join(" | ")})`;
  if (words.length > 0) {
    const [row] = await runQuery(sql<{ nodes: number }[]>`select numnode(${all}) as nodes`);
    if (row?.nodes === 0) return undefined;
  }
  const own = sql`${`'session=${sessionId}'`}::tsquery`;
  const said = {
    participant: sql`ts_filter(words, '{a}')`,
    agent: sql`ts_filter(words, '{b}')`,
    tool: sql`ts_filter(words, '{c}')`,
    anybody: sql`words`,
  }[kind ?? "anybody"];
  const fits = sql`
    session_id = ${sessionId} and superseded_by is null and state <> 'running'
    ${words.length > 0 ? sql`and words @@ (${own} && ${all}) and ${said} @@ ${all}` : sql``}
    ${typeof speaker === "object" ? sql`and participant_identity = ${speaker.participant}` : sql``}
    ${
      tool === undefined
        ? sql``
        : sql`and exists (select from turn_blocks where turn_id = turns.id and content ->> 'tool_name' = ${tool})`
    }
    ${from === undefined ? sql`` : sql`and created_at >= ${sql.types.timestamp(from)}::timestamptz`}
    ${to === undefined ? sql`` : sql`and created_at <= ${sql.types.timestamp(to)}::timestamptz`}
  `;
  const excerpt =
    words.length > 0
      ? sql`case when length(piece) <= ${WHOLE} then piece else ts_headline('simple', left(piece, 60000), ${any},
          'StartSel="", StopSel="", MaxFragments=2, MaxWords=40, MinWords=15, FragmentDelimiter=" … "') end`
      : sql`left(piece, ${WHOLE})`;
  return await runQuery(sql<FoundPiece[]>`
    select
      position as turn, created_at as at, speaker, participant_identity as participant, tool_name as "toolName",
      tool_use_id as "toolUseId", ${excerpt} as excerpt
    from (select * from turns where ${fits} order by position desc limit ${limit}) as turns, lateral (
      select * from turn_pieces(turns.id, turns.heard)
      where true
        ${kind === undefined ? sql`` : sql`and speaker = ${kind}`}
        ${tool === undefined ? sql`` : sql`and tool_name = ${tool}`}
        ${words.length > 0 ? sql`and to_tsvector('simple', left(piece, 60000)) @@ ${any}` : sql``}
      order by sequence
      limit ${MAX_PIECES}
    ) as pieces
    order by position desc, sequence
  `);
}
