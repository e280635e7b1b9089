import type { InputPart } from "../../conversation/turn-record.ts";
import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/** A session in which a participant had a turn, with figures about that participant only. */
export interface ListedSession {
  readonly id: string;
  readonly conversationId: string;
  readonly room: string;
  /** The number of this participant's turns, without replaced ones. */
  readonly turns: number;
  /**
   * When this participant's first turn began, in milliseconds since the epoch. `lastAt` is when the last turn began.
   */
  readonly firstAt: number;
  readonly lastAt: number;
  /** The input of this participant's first turn. */
  readonly firstInput: readonly InputPart[];
  /** What this participant calls the session, if anything. */
  readonly title: string | null;
}

interface ListRequest {
  readonly identity: string;
  readonly limit: number;
}

/** Returns the sessions in which a participant had a turn, newest first. Omits sessions without a room. */
export async function listSessions(sql: Sql, { identity, limit }: ListRequest): Promise<readonly ListedSession[]> {
  return await runQuery(sql<ListedSession[]>`
    with own as (
      select session_id, count(*)::int as turns, min(position) as first,
        min(created_at) as first_at, max(created_at) as last_at
      from turns
      where participant_identity = ${identity} and superseded_by is null and parent_message_id is not null
      group by session_id
      order by max(created_at) desc
      limit ${limit}
    )
    select sessions.id, coalesce(former_conversation_id, conversation_id) as "conversationId", room, own.turns, first_at as "firstAt", last_at as "lastAt",
      (select input from turns where turns.session_id = own.session_id and position = own.first) as "firstInput",
      session_titles.title
    from own
    join sessions on sessions.id = own.session_id
    left join session_titles
      on session_titles.session_id = own.session_id and session_titles.participant_identity = ${identity}
    where room is not null
    order by last_at desc, sessions.id
  `);
}
