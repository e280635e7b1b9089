import type { EndReason } from "../../conversation/session-end.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import type { SessionRoom } from "./session-rooms.ts";

interface ModelTokens {
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

export interface EndedRoom {
  readonly conversationId: string;
  readonly room: string;
  /** The agent that served the room when it ended. */
  readonly agent: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly reason: EndReason;
  /** The position before the room's first turn. `lastPosition` is the position of its last turn. */
  readonly afterPosition: number;
  readonly lastPosition: number;
  /** The identities of everyone who had a turn. */
  readonly participants: readonly string[];
  /** The token totals of all turns in the room, by model. */
  readonly usage: readonly ModelTokens[];
  /** The session's state; `{}` if it was never changed. */
  readonly state: JsonObject;
}

/**
 * Loads the record of an ended room, without its turns. Returns `undefined` if the room has not ended or its record was
 * removed.
 */
export async function loadEndedRoom(sql: Sql, { sessionId, roomSid }: SessionRoom): Promise<EndedRoom | undefined> {
  const [row] = await runQuery(sql<EndedRoom[]>`
    with ended as (
      select * from session_rooms where session_id = ${sessionId} and room_sid = ${roomSid} and ended_at is not null
    ),
    own as (
      select model, usage, participant_identity from turns, ended
      where turns.session_id = ${sessionId} and position > after_position and position <= last_position
    ),
    spent as (
      select
        model, sum((usage ->> 'inputTokens')::bigint) as "inputTokens",
        sum((usage ->> 'outputTokens')::bigint) as "outputTokens",
        sum((usage ->> 'cacheReadTokens')::bigint) as "cacheReadTokens",
        sum((usage ->> 'cacheWriteTokens')::bigint) as "cacheWriteTokens"
      from own where model is not null and usage is not null
      group by model order by model
    )
    select
      coalesce(former_conversation_id, conversation_id) as "conversationId",
      coalesce(room, former_conversation_id, conversation_id) as room,
      coalesce(case when agent_room = room_sid then sessions.agent end, ended.agent) as agent,
      started_at as "startedAt", ended_at as "endedAt", end_reason as reason,
      after_position as "afterPosition", last_position as "lastPosition",
      (
        select coalesce(json_agg(distinct participant_identity order by participant_identity), '[]') from own
      ) as participants,
      (select coalesce(json_agg(spent), '[]') from spent) as usage,
      coalesce((select state from session_states where session_id = sessions.id), '{}') as state
    from ended join sessions on sessions.id = session_id
  `);
  return row;
}
