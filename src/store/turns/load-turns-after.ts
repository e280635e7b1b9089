import { MEMORY_TOOL, type TurnBlock } from "../../conversation/block.ts";
import type { TurnState } from "../../conversation/turn-record.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { isUnspoken } from "./load-turns.ts";

/**
 * A point in a session's record: after a block of the turn at `position`, after the turn's end, or after the end of its
 * speech.
 */
export interface RecordPoint {
  readonly position: number;
  readonly sequence: number | "end" | "spoken";
}

/** A turn for readers that follow the record. */
export interface FollowedTurn {
  readonly id: string;
  readonly position: number;
  readonly participantIdentity: string;
  readonly parentMessageId: string | null;
  readonly messageId: string;
  readonly state: TurnState;
  readonly stopReason: string | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly model: string | null;
  readonly usage: JsonObject | null;
  readonly speech: "none" | "open" | "over";
  /** How the turn ended, including its speech. Set once the speech has ended. */
  readonly spokenState: TurnState | null;
  /** The part of the answer that was heard before its speech was interrupted. */
  readonly heard: string | null;
  /** The blocks after the point. */
  readonly blocks: readonly FollowedBlock[];
}

export interface FollowedBlock extends TurnBlock {
  /** Whether the block is a use of `MEMORY_TOOL`, or the result of such a use. */
  readonly isMemory: boolean;
}

const MAX_SEQUENCE = 2 ** 31 - 1;

interface AfterPoint {
  readonly sessionId: string;
  readonly after: RecordPoint;
  /** Loads blocks of this turn only up to `sequence`; `undefined` loads all of them. */
  readonly until?: { readonly turnId: string; readonly sequence: number | undefined } | undefined;
  readonly limit: number;
}

/**
 * Loads up to `limit` turns after a point, in the order in which they began, including replaced turns. If the point is
 * a turn's end, the first result is that same turn without blocks, because its speech may end later.
 */
export async function loadTurnsAfter(
  sql: Sql,
  { sessionId, after, until, limit }: AfterPoint,
): Promise<FollowedTurn[]> {
  const { position, sequence } = after;
  const first = sequence === "spoken" ? position + 1 : position;
  const seen = typeof sequence === "number" ? sequence : MAX_SEQUENCE;
  return await runQuery(sql<FollowedTurn[]>`
    select
      id, position, participant_identity as "participantIdentity", parent_message_id as "parentMessageId",
      message_id as "messageId", state, stop_reason as "stopReason", error_code as "errorCode",
      error_message as "errorMessage", model, usage, heard, spoken_state as "spokenState",
      case when spoken_at is not null then 'over' when ${isUnspoken(sql)} then 'open' else 'none' end as speech,
      (
        select coalesce(
          json_agg(
            json_build_object(
              'sequence', sequence, 'blockType', block_type, 'textContent', text_content, 'content', content,
              'isMemory', coalesce(content ->> 'tool_use_id' in (
                select use.content ->> 'tool_use_id' from turn_blocks as use
                where use.turn_id = turns.id and use.block_type = 'tool_use'
                  and use.content ->> 'tool_name' = ${MEMORY_TOOL}
              ), false)
            ) order by sequence
          ),
          '[]'
        )
        from turn_blocks
        where turn_id = turns.id and (turns.position > ${position} or sequence > ${seen})
          and (turn_id <> ${until?.turnId ?? ""} or sequence <= ${until?.sequence ?? MAX_SEQUENCE})
      ) as blocks
    from turns
    where session_id = ${sessionId} and position >= ${first}
    order by position
    limit ${limit}
  `);
}

/** Whether the session's record contains this point. Every record contains the point before its first turn. */
export async function hasRecordPoint(
  sql: Sql,
  { sessionId, point: { position, sequence } }: { readonly sessionId: string; readonly point: RecordPoint },
): Promise<boolean> {
  if (position === 0) return sequence === "end";
  const rows = await runQuery(sql`
    select from turns
    where session_id = ${sessionId} and position = ${position} and ${
      typeof sequence === "number"
        ? sql`exists (select from turn_blocks where turn_id = turns.id and sequence = ${sequence})`
        : sql`${sequence === "end" ? sql`state <> 'running'` : sql`spoken_at is not null`}`
    }
  `);
  return rows.length > 0;
}

/** Returns the end of the last finished turn, or the end of its speech if the speech has ended too. */
export async function findLastEnd(sql: Sql, { sessionId }: { readonly sessionId: string }): Promise<RecordPoint> {
  const [row] = await runQuery(sql<{ position: number; isSpoken: boolean }[]>`
    select position, spoken_at is not null as "isSpoken" from turns
    where session_id = ${sessionId} and state <> 'running'
    order by position desc limit 1
  `);
  return { position: row?.position ?? 0, sequence: row?.isSpoken === true ? "spoken" : "end" };
}

/** Returns a turn's position, from 1, or `undefined` while the turn is not stored. */
export async function findTurnPosition(sql: Sql, { turnId }: { readonly turnId: string }): Promise<number | undefined> {
  const [row] = await runQuery(sql<{ position: number }[]>`select position from turns where id = ${turnId}`);
  return row?.position;
}
