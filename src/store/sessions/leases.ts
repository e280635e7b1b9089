import { AppError } from "../../errors/app-error.ts";
import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { type SessionRecord, type SessionRow, toSessionRecord } from "./sessions.ts";
import type { SessionWriter } from "./session-writer.ts";

export interface SessionClaim {
  /** The new session's id, used only if the conversation is new. */
  readonly sessionId: string;
  readonly conversationId: string;
  readonly room: string;
  /** LiveKit's id of the room, which a later room of the same name does not have. @defaultValue unknown */
  readonly roomSid?: string | undefined;
  /** Whether a later LiveKit room of the same name continues the session. @defaultValue true */
  readonly continues?: boolean;
  /** The participant that opens the session, if that is known. A stored session keeps the one that it has. */
  readonly participantIdentity: string | null;
  /** The worker that claims. */
  readonly owner: string;
  readonly leaseMs: number;
}

interface ClaimedSession extends SessionRecord {
  /** The worker whose lease had run out. It may only have stood still. */
  readonly takenFrom: string | null;
  /** Whether it belongs to an earlier LiveKit room of the same name, so that this room begins a new one (`beginAnew`). */
  readonly isOfEarlierRoom: boolean;
}

/**
 * Finds the conversation's session or makes it, and takes its lease if that is free, expired or the owner's already,
 * which makes all earlier claims void. Notes for its open rooms that an agent has come. Returns `undefined` while another
 * owner has the lease. The database's clock decides, so workers' clocks may differ.
 *
 * @throws {AppError} `not_allowed` when the conversation is another room's: participants of one room would read what
 *   was said in the other
 */
export async function claimSession(sql: Sql, claim: SessionClaim): Promise<ClaimedSession | undefined> {
  const {
    sessionId,
    conversationId,
    room,
    roomSid = null,
    participantIdentity,
    owner,
    leaseMs,
    continues = true,
  } = claim;
  const claimed = await runQuery(sql<(SessionRow & { taken_from: string | null; is_of_earlier_room: boolean })[]>`
    with before as materialized (
      select lease_owner from sessions where conversation_id = ${conversationId} and lease_owner <> ${owner}
    ),
    claimed as (
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
    ),
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

/** Who has a conversation's session now, by the database's clock; `undefined` when nobody has. */
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

/** Also renews a lease that has run out and that nobody has taken. `false` when another has it, or it was released. */
export async function renewLease({ sql, lease }: SessionWriter, { leaseMs }: { leaseMs: number }): Promise<boolean> {
  const { sessionId, epoch } = lease;
  const result = await runQuery(sql`
    update sessions
    set lease_expires_at = now() + ${leaseMs} * interval '1 millisecond', updated_at = now()
    where id = ${sessionId} and epoch = ${epoch} and lease_owner is not null
  `);
  return result.count > 0;
}

/** Lets the next worker claim the session at once. Does nothing if another worker has claimed it. */
export async function releaseLease({ sql, lease }: SessionWriter): Promise<void> {
  const { sessionId, epoch } = lease;
  await runQuery(sql`
    update sessions
    set lease_owner = null, lease_expires_at = null, updated_at = now()
    where id = ${sessionId} and epoch = ${epoch}
  `);
}

/**
 * The same for a session whose turn goes on elsewhere: from now on this worker cannot write to it any more.
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
 * Frees all leases of a worker that is known to be dead, so that nobody waits until they expire.
 *
 * @returns whether there were any: a worker that ends in order has released its own
 */
export async function releaseOwner(sql: Sql, { owner }: { owner: string }): Promise<boolean> {
  const result = await runQuery(sql`
    update sessions
    set lease_owner = null, lease_expires_at = null, updated_at = now()
    where lease_owner = ${owner}
  `);
  return result.count > 0;
}
