import { type TurnBlock } from "../../conversation/block.ts";
import { type InputText, type TurnRecord, type TurnState } from "../../conversation/turn-record.ts";
import { type Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/** The turns of the session's history, oldest first; replaced ones are left out. */
export async function loadTurns(sql: Sql, { sessionId }: { sessionId: string }): Promise<StoredTurn[]> {
  return await selectTurns(sql, { sessionId });
}

interface TurnRow {
  id: string;
  position: number;
  participant_identity: string;
  parent_message_id: string | null;
  message_id: string;
  input: InputText[];
  state: TurnState;
  created_at: number;
  /** A bigint comes as text. */
  last_stanza: string | null;
  asides: number;
  heard: string | null;
  /** With the keys of `TurnBlock`. */
  blocks: TurnBlock[];
}

/** A turn as it is loaded. */
interface StoredTurn extends TurnRecord {
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The worker's stanza number at its end, positive; `undefined` if its worker did not end it. */
  readonly lastStanza: number | undefined;
}

/** The history's turns, and each one's blocks, in order and as of one moment. */
async function selectTurns(sql: Sql, { sessionId }: { sessionId: string }): Promise<StoredTurn[]> {
  const rows = await runQuery(sql<TurnRow[]>`
    select id, position, participant_identity, parent_message_id, message_id, input, state, created_at, last_stanza, asides, heard, (
      select coalesce(
        json_agg(
          json_build_object(
            'sequence', sequence, 'blockType', block_type, 'textContent', text_content, 'content', content
          ) order by sequence
        ),
        '[]'
      )
      from turn_blocks where turn_id = turns.id
    ) as blocks
    from turns
    where session_id = ${sessionId} and superseded_by is null
    order by position
  `);
  return rows.map((row) => ({
    id: row.id,
    position: row.position,
    participantIdentity: row.participant_identity,
    parentMessageId: row.parent_message_id,
    messageId: row.message_id,
    input: row.input,
    state: row.state,
    createdAt: row.created_at,
    lastStanza: row.last_stanza === null ? undefined : Number(row.last_stanza),
    blocks: row.blocks,
    asides: row.asides,
    heard: row.heard ?? undefined,
  }));
}
