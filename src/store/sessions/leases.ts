import { AppError } from "../../errors/app-error.ts";
import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { type SessionRecord, type SessionRow, toSessionRecord } from "./sessions.ts";
import type { SessionWriter } from "./session-writer.ts";

export interface SessionClaim {
  /** The id for a new session. Used only if the conversation has no session yet. */
  readonly sessionId: string;
  readonly conversationId: string;
  readonly room: string;
  /** LiveKit's id of the room. A later room of the same name has a different id. @defaultValue unknown */
  readonly roomSid?: string | undefined;
  /** Whether a later LiveKit room of the same name continues the session. @defaultValue true */
  readonly continues?: boolean;
  /** The participant that opens the session, if known. Never replaces the opener of a stored session. */
  readonly participantIdentity: string | null;
  /** The worker that claims the session. */
  readonly owner: string;
  readonly leaseMs: number;
}

interface ClaimedSession extends SessionRecord {
  /** The previous worker, whose lease had expired. It may be frozen rather than dead. */
  readonly takenFrom: string | null;
  /**
   * Whether the session belongs to an earlier LiveKit room of the same name. If so, a new session starts in this room
   * (`startNewSession`).
   */
  readonly isOfEarlierRoom: boolean;
}

/**
 * Finds or creates the conversation's session and takes its lease if the lease is free, has expired or is already held
 * by `owner`. A claim invalidates all earlier claims of the session and records that an agent has come to its open
 * rooms. Returns `undefined` while another owner holds the lease. Expiry is decided by the database's clock, because
 * workers' clocks may differ.
 *
 * @throws {AppError} `not_allowed` if the conversation belongs to another room: participants of one room must not
 *   read what was said in another
 */
export async function claimSession(sql: Sql, claim: SessionClaim): Promise<ClaimedSession | undefined> {
  const { conversationId, room, roomSid = null, owner } = claim;
  const claimed = await runQuery(sql<(SessionRow & { taken_from: string | null; is_of_earlier_room: boolean })[]>`
    with before as materialized (
      select lease_owner from sessions where conversation_id = ${conversationId} and lease_owner <> ${owner}
    ),
    claimed as (${takeLease(sql, claim)}),
    come as (
      update session_rooms set agent_came = true from claimed where session_id = claimed.id and ended_at is null
    )
    select
      *,
      (select lease_owner from before) as taken_from,
      ${roomSid}::text is not null and claimed_room is distinct from ${roomSid} and not exists (
        select from session_rooms where session_id = claimed.id and room_sid = ${roomSid}
      ) as is_of_earlier_room
    from claimed
  `);
  const [row] = claimed;
  if (row) return { ...toSessionRecord(row), takenFrom: row.taken_from, isOfEarlierRoom: row.is_of_earlier_room };
  const others = await runQuery(sql`
    select from sessions where conversation_id = ${conversationId} and room <> ${room}
  `);
  if (others.length > 0) throw new AppError("not_allowed", "The conversation belongs to another room");
  return undefined;
}

/** Makes a claimed session the one of this LiveKit room. Does nothing if another worker has claimed the session since. */
export async function moveToRoom({ sql, lease }: SessionWriter, { roomSid }: { readonly roomSid: string }) {
  const { sessionId, epoch } = lease;
  await runQuery(sql`update sessions set claimed_room = ${roomSid} where id = ${sessionId} and epoch = ${epoch}`);
}

/**
 * Inserts the session, or takes the lease of the stored session unless another owner holds it. Selects the session's
 * row if the lease was taken.
 */
function takeLease(sql: Sql, claim: SessionClaim) {
  const { sessionId, conversationId, room, roomSid = null, participantIdentity, owner, leaseMs } = claim;
  const { continues = true } = claim;
  return sql`
    insert into sessions (
      id, conversation_id, room, claimed_room, participant_identity, lease_owner, lease_expires_at, epoch
    )
    values (
      ${sessionId}, ${conversationId}, ${room}, ${roomSid}, ${participantIdentity}, ${owner},
      now() + ${leaseMs} * interval '1 millisecond', 1
    )
    on conflict (conversation_id) do update set
      room = excluded.room,
      claimed_room = case
        when ${continues} then coalesce(excluded.claimed_room, sessions.claimed_room) else sessions.claimed_room
      end,
      lease_owner = excluded.lease_owner,
      lease_expires_at = excluded.lease_expires_at,
      epoch = sessions.epoch + 1,
      updated_at = now()
    where (
        sessions.lease_owner is null
        or sessions.lease_owner = excluded.lease_owner
        or sessions.lease_expires_at <= now()
      )
      and coalesce(sessions.room, excluded.room) = excluded.room
    returning *
  `;
}

/**
 * Returns the current lease of a conversation's session, by the database's clock, or `undefined` if nobody holds it.
 */
export async function findLease(
  sql: Sql,
  { conversationId }: { readonly conversationId: string },
): Promise<{ readonly owner: string; readonly expiresAt: Date } | undefined> {
  const [row] = await runQuery(sql<{ owner: string; expiresAt: Date }[]>`
    select lease_owner as owner, lease_expires_at as "expiresAt" from sessions
    where conversation_id = ${conversationId} and lease_owner is not null and lease_expires_at > now()
  `);
  return row;
}

/**
 * Renews a lease, even an expired one. Returns `false` if another worker has claimed the session, or if the lease was
 * released.
 */
export async function renewLease({ sql, lease }: SessionWriter, { leaseMs }: { leaseMs: number }): Promise<boolean> {
  const { sessionId, epoch } = lease;
  const result = await runQuery(sql`
    update sessions
    set lease_expires_at = now() + ${leaseMs} * interval '1 millisecond', updated_at = now()
    where id = ${sessionId} and epoch = ${epoch} and lease_owner is not null
  `);
  return result.count > 0;
}

/**
 * Releases the lease, so that the next worker can claim the session at once. Does nothing if another worker has claimed
 * it.
 */
export async function releaseLease({ sql, lease }: SessionWriter): Promise<void> {
  const { sessionId, epoch } = lease;
  await runQuery(sql`
    update sessions
    set lease_owner = null, lease_expires_at = null, updated_at = now()
    where id = ${sessionId} and epoch = ${epoch}
  `);
}

/**
 * Releases the lease of a session whose turn continues on another worker. Afterwards, this worker can no longer write
 * to the session.
 */
export async function abandonLease({ sql, lease }: SessionWriter): Promise<void> {
  const { sessionId, epoch } = lease;
  await runQuery(sql`
    update sessions
    set lease_owner = null, lease_expires_at = null, epoch = epoch + 1, updated_at = now()
    where id = ${sessionId} and epoch = ${epoch}
  `);
}

/**
 * Releases all leases of a worker that is known to be dead, so that nobody has to wait until they expire.
 *
 * @returns whether the worker still held any leases. A worker that shuts down normally has already released them
 */
export async function releaseOwner(sql: Sql, { owner }: { owner: string }): Promise<boolean> {
  const result = await runQuery(sql`
    update sessions
    set lease_owner = null, lease_expires_at = null, updated_at = now()
    where lease_owner = ${owner}
  `);
  return result.count > 0;
}
