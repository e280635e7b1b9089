import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/** A room whose session no worker serves. */
export interface UnservedRoom {
  readonly room: string;
  /**
   * The worker whose lease has expired. LiveKit may still list that worker's agent. Absent if there is no lease or no
   * session.
   */
  readonly formerOwner?: string;
}

interface AgentRequest {
  readonly room: string;
  readonly restMs: number;
}

interface RoomCheck {
  /** How long after this check the rooms must not be checked again. */
  readonly restMs: number;
  /** How long after the `restMs` of the previous check this check may be made. */
  readonly overdueMs: number;
}

/**
 * How long ago a lease must have expired for its room to count as unserved. A worker that is alive may renew its lease
 * slightly late.
 */
const LAPSED_FOR = "1 second";

/**
 * Whether this worker may check all rooms now. Only one worker checks them at a time, so that LiveKit's load does not
 * grow with the number of workers.
 */
export async function mayCheckRooms(sql: Sql, { restMs, overdueMs }: RoomCheck): Promise<boolean> {
  const rows = await runQuery(sql`
    insert into all_rooms (looks_rest_until) values (now() + ${restMs} * interval '1 millisecond')
    on conflict (is_row) do update set looks_rest_until = excluded.looks_rest_until
      where all_rooms.looks_rest_until <= now() - ${overdueMs} * interval '1 millisecond'
    returning is_row
  `);
  return rows.length > 0;
}

/** Returns the given rooms, in the same order, without those whose session is leased to a worker. */
export async function findUnserved(
  sql: Sql,
  { rooms }: { readonly rooms: readonly string[] },
): Promise<UnservedRoom[]> {
  const rows = await runQuery(sql<{ room: string; lease_owner: string | null }[]>`
    select asked.room, sessions.lease_owner
    from json_array_elements_text(${JSON.stringify(rooms)}::text::json) with ordinality as asked (room, place)
    left join sessions on sessions.room = asked.room and lease_owner is not null
    where lease_owner is null or lease_expires_at < now() - ${LAPSED_FOR}::interval
    order by place
  `);
  return rows.map(({ room, lease_owner: owner }) => ({ room, ...(owner !== null && { formerOwner: owner }) }));
}

/** Whether this worker may request an agent for the room. If so, no other worker may do so for `restMs`. */
export async function mayAskForAgent(sql: Sql, { room, restMs }: AgentRequest): Promise<boolean> {
  const rows = await runQuery(sql`
    insert into agent_requests (room, rests_until) values (${room}, now() + ${restMs} * interval '1 millisecond')
    on conflict (room) do update set rests_until = excluded.rests_until where agent_requests.rests_until <= now()
    returning room
  `);
  return rows.length > 0;
}

/**
 * Keeps all workers from requesting an agent for the room for `restMs`. This worker, whose agent has ended, requests
 * the next agent itself if one is needed.
 */
export async function storeAgentRequest(sql: Sql, { room, restMs }: AgentRequest): Promise<void> {
  await runQuery(sql`
    insert into agent_requests (room, rests_until) values (${room}, now() + ${restMs} * interval '1 millisecond')
    on conflict (room) do update set rests_until = excluded.rests_until
  `);
}

/** Deletes expired rows. */
export async function forgetAgentRequests(sql: Sql): Promise<void> {
  await runQuery(sql`delete from agent_requests where rests_until <= now()`);
}

/** Notifies all workers that rooms are waiting for an agent because all workers are full. */
export async function storeWaitingRooms(sql: Sql, { forMs }: { readonly forMs: number }): Promise<void> {
  await runQuery(sql`
    insert into all_rooms (waiting_until) values (now() + ${forMs} * interval '1 millisecond')
    on conflict (is_row) do update set waiting_until = excluded.waiting_until
  `);
}

export async function areRoomsWaiting(sql: Sql): Promise<boolean> {
  const rows = await runQuery(sql`select from all_rooms where waiting_until > now()`);
  return rows.length > 0;
}
