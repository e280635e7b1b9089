import type { EndReason } from "../../conversation/session-end.ts";
import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { fencingRow, lostLease, type SessionWriter } from "./session-writer.ts";

export interface SessionRoom {
  readonly sessionId: string;
  readonly roomSid: string;
}

interface Begin {
  readonly roomSid: string;
  readonly agent: string;
  /** The position of the session's last turn before this room. */
  readonly afterPosition: number;
  /** Whether to send webhooks about ended rooms. */
  readonly hasEndWebhook: boolean;
}

export interface Begun {
  /** Whether the session starts in this room now. `false` if an earlier worker has already started it there. */
  readonly isNew: boolean;
  /** Earlier rooms of this session that ended while no worker was in them. They are now stored as ended. */
  readonly ended: readonly SessionRoom[];
}

/** A room that no worker serves, although a session has started there and not ended. */
export interface AbandonedRoom extends SessionRoom {
  readonly room: string;
  /**
   * The worker whose lease has expired. LiveKit may still list that worker's agent. Absent if the lease was released.
   */
  readonly formerOwner?: string;
  /**
   * Whether the room gets an agent even if LiveKit lists no participants. True if no agent has claimed the session
   * since it last started in this room.
   */
  readonly needsAgent: boolean;
}

/**
 * How long ago a session must have started in a room for the room to count as abandoned. LiveKit's list of rooms may
 * not contain newer rooms yet.
 */
const SETTLED_FOR = "10 seconds";
/**
 * How long a session must have been without a lease for its room to count as abandoned. During a handover, a session is
 * briefly without a lease, and a worker that is alive may renew its lease late.
 */
const LAPSED_FOR = "1 second";

/**
 * Stores the start of a session in a room. Ends the session's earlier rooms, because LiveKit never has two rooms of the
 * same name at a time.
 */
export async function beginRoom(writer: SessionWriter, begin: Begin): Promise<Begun> {
  const { sql, lease } = writer;
  const { sessionId } = lease;
  const { roomSid, agent, afterPosition, hasEndWebhook } = begin;
  const [row] = await runQuery(sql<{ isNew: boolean; ended: readonly string[] }[]>`
    with fence as materialized (${fencingRow(writer)}),
    ended as (
      update session_rooms set ended_at = now(), end_reason = 'unknown', last_position = ${afterPosition}
      from fence
      where session_id = ${sessionId} and room_sid <> ${roomSid} and ended_at is null
      returning session_id, room_sid
    ),
    begun_again as (
      update session_rooms set agent_came = false
      from fence
      where session_id = ${sessionId} and room_sid = ${roomSid} and agent_came
    ),
    begun as (
      insert into session_rooms (session_id, room_sid, agent, after_position)
      select ${sessionId}, ${roomSid}, ${agent}, ${afterPosition}::int from fence
      on conflict do nothing
      returning room_sid
    ),
    notified as (${insertEndWebhooks(sql, hasEndWebhook)})
    select
      (select count(*) > 0 from begun) as "isNew", (select coalesce(json_agg(room_sid), '[]') from ended) as ended
    from fence
  `);
  if (!row) throw lostLease();
  return { isNew: row.isNew, ended: row.ended.map((sid) => ({ sessionId, roomSid: sid })) };
}

interface End {
  readonly roomSid: string;
  readonly reason: EndReason;
  readonly hasEndWebhook: boolean;
}

/**
 * Stores the end of the session's room. Returns `false` if the end was already stored, or if the session never started
 * in the room.
 */
export async function endRoom(writer: SessionWriter, { roomSid, reason, hasEndWebhook }: End): Promise<boolean> {
  const { sql, lease } = writer;
  const [row] = await runQuery(sql<{ isEnded: boolean }[]>`
    with fence as materialized (${fencingRow(writer)}),
    ended as (
      update session_rooms set ended_at = now(), end_reason = ${reason}, last_position = ${lastPosition(sql)}
      from fence
      where session_id = ${lease.sessionId} and room_sid = ${roomSid} and ended_at is null
      returning session_id, room_sid
    ),
    notified as (${insertEndWebhooks(sql, hasEndWebhook)})
    select (select count(*) > 0 from ended) as "isEnded" from fence
  `);
  if (!row) throw lostLease();
  return row.isEnded;
}

export async function findAbandonedRooms(sql: Sql): Promise<readonly AbandonedRoom[]> {
  const rows = await runQuery(sql<(Omit<AbandonedRoom, "formerOwner"> & { formerOwner: string | null })[]>`
    select
      session_id as "sessionId", room_sid as "roomSid", sessions.room, lease_owner as "formerOwner",
      not agent_came as "needsAgent"
    from session_rooms join sessions on sessions.id = session_id
    where ${isAbandoned(sql)}
  `);
  return rows.map(({ formerOwner, ...room }) => ({ ...room, ...(formerOwner !== null && { formerOwner }) }));
}

/**
 * Stores the end of a room that LiveKit closed while no worker was in it.
 *
 * @returns `false` if another worker has stored the end or serves the room
 */
export async function endAbandonedRoom(
  sql: Sql,
  { sessionId, roomSid, hasEndWebhook }: SessionRoom & { readonly hasEndWebhook: boolean },
): Promise<boolean> {
  const rows = await runQuery(sql`
    with ended as (
      update session_rooms set ended_at = now(), end_reason = 'unknown', last_position = ${lastPosition(sql)}
      from sessions
      where sessions.id = session_id and session_id = ${sessionId} and room_sid = ${roomSid} and ${isAbandoned(sql)}
      returning session_id, room_sid
    ),
    notified as (${insertEndWebhooks(sql, hasEndWebhook)})
    select from ended
  `);
  return rows.length > 0;
}

/** Whether a session has started in the room and not ended, and no agent has claimed the session since then. */
export async function needsAgent(sql: Sql, { room }: { readonly room: string }): Promise<boolean> {
  const rows = await runQuery(sql`
    select from session_rooms join sessions on sessions.id = session_id
    where sessions.room = ${room} and ended_at is null and not agent_came
  `);
  return rows.length > 0;
}

function isAbandoned(sql: Sql) {
  return sql`
    ended_at is null and started_at < now() - ${SETTLED_FOR}::interval and (
      (lease_owner is null and sessions.updated_at < now() - ${LAPSED_FOR}::interval)
      or lease_expires_at < now() - ${LAPSED_FOR}::interval
    )
  `;
}

/** Returns a subquery for an update of `session_rooms`. It selects the position of the session's last turn. */
export function lastPosition(sql: Sql) {
  return sql`(select coalesce(max(position), 0) from turns where turns.session_id = session_rooms.session_id)`;
}

/**
 * Returns the insert of one webhook per ended room, for a statement with `ended as (… returning session_id, room_sid)`.
 * A webhook's id is derived from the room's id, so a room never gets a second webhook.
 */
export function insertEndWebhooks(sql: Sql, hasEndWebhook: boolean) {
  return sql`
    insert into webhooks (id, session_id, room_sid)
    select 'ended_' || room_sid, session_id, room_sid from ended where ${hasEndWebhook}::boolean
    on conflict do nothing
  `;
}
