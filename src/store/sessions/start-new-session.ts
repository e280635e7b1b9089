import { runQuery } from "../database/store-error.ts";
import { lastPosition, type SessionRoom, insertEndWebhooks } from "./session-rooms.ts";
import type { SessionWriter } from "./session-writer.ts";
import { type SessionRecord, type SessionRow, toSessionRecord } from "./sessions.ts";

interface NewSession {
  readonly sessionId: string;
  /** LiveKit's id of the new session's room. */
  readonly roomSid: string;
  /** The worker that holds the lease on the earlier session and gets the lease on the new one. */
  readonly owner: string;
  readonly leaseMs: number;
  /** Whether to send webhooks about ended rooms. */
  readonly hasEndWebhook: boolean;
}

interface StartedSession {
  /** The new session, leased by the same worker. */
  readonly session: SessionRecord;
  /** Rooms of the earlier session that ended while no worker was in them. They are now stored as ended. */
  readonly ended: readonly SessionRoom[];
}

/**
 * Moves the conversation id, which the room's clients use, to a new session. The earlier session is released and cannot
 * be claimed again. Stanza numbers continue, because a client may stay connected while a room is replaced by another
 * one of the same name.
 *
 * @returns `undefined`, without changing anything, if another worker has claimed the earlier session
 */
export async function startNewSession(
  { sql, lease }: SessionWriter,
  session: NewSession,
): Promise<StartedSession | undefined> {
  const { sessionId, roomSid, owner, leaseMs, hasEndWebhook } = session;
  const [row] = await runQuery(sql<(SessionRow & { readonly ended: readonly string[] })[]>`
    with before as materialized (
      select conversation_id from sessions where id = ${lease.sessionId} and epoch = ${lease.epoch} for update
    ),
    left_behind as (
      update sessions set
        former_conversation_id = before.conversation_id, conversation_id = id,
        lease_owner = null, lease_expires_at = null, epoch = epoch + 1, updated_at = now()
      from before
      where id = ${lease.sessionId}
      returning id, former_conversation_id, room, worker_stanza_reserved
    ),
    ended as (
      update session_rooms set ended_at = now(), end_reason = 'unknown', last_position = ${lastPosition(sql)}
      from left_behind
      where session_id = left_behind.id and ended_at is null
      returning session_id, room_sid
    ),
    notified as (${insertEndWebhooks(sql, hasEndWebhook)}),
    begun as (
      insert into sessions (
        id, conversation_id, room, claimed_room, lease_owner, lease_expires_at, epoch, worker_stanza_reserved
      )
      select
        ${sessionId}, former_conversation_id, room, ${roomSid}, ${owner},
        now() + ${leaseMs} * interval '1 millisecond', 1, worker_stanza_reserved
      from left_behind
      returning *
    )
    select begun.*, (select coalesce(json_agg(room_sid), '[]') from ended) as ended from begun
  `);
  if (!row) return undefined;
  const ended = row.ended.map((sid) => ({ sessionId: lease.sessionId, roomSid: sid }));
  return { session: toSessionRecord(row), ended };
}
