import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/** A room whose session nobody serves. */
export interface UnservedRoom {
  readonly room: string;
  /** Whose lease has run out: its agent may still look alive. Absent when there is no lease, or no session. */
  readonly formerOwner?: string;
}

interface AgentRequest {
  readonly room: string;
  readonly restMs: number;
}

interface Look {
  /** Nobody else looks within this time. */
  readonly restMs: number;
  /** Looks only when nobody has for so long after that. */
  readonly overdueMs: number;
}

/** In the place of a room, for LiveKit knows none without a name: the look at all rooms. */
const ALL_ROOMS = "";
/** The same: that rooms wait for a place. */
const WAITING_ROOMS = "\n";

/** An alive worker that could not renew for a moment is not deprived of its session. */
const LAPSED_FOR = "1 second";

/** Whether this worker is the one that looks at all rooms now: what that costs LiveKit does not grow with the workers. */
export async function mayLookAtRooms(sql: Sql, { restMs, overdueMs }: Look): Promise<boolean> {
  const rows = await runQuery(sql`
    insert into agent_requests (room, rests_until)
    values (${ALL_ROOMS}, now() + ${restMs} * interval '1 millisecond')
    on conflict (room) do update set rests_until = excluded.rests_until
      where agent_requests.rests_until <= now() - ${overdueMs} * interval '1 millisecond'
    returning room
  `);
  return rows.length > 0;
}

/** Of these rooms, those whose session no worker has a lease of, in their order. */
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

/** Whether this worker is the one that asks for an agent for the room; nobody else does so for `restMs` then. */
export async function mayAskForAgent(sql: Sql, { room, restMs }: AgentRequest): Promise<boolean> {
  const rows = await runQuery(sql`
    insert into agent_requests (room, rests_until) values (${room}, now() + ${restMs} * interval '1 millisecond')
    on conflict (room) do update set rests_until = excluded.rests_until where agent_requests.rests_until <= now()
    returning room
  `);
  return rows.length > 0;
}

/** This worker sees to the room, whoever else has: its own agent has ended. */
export async function noteAgentRequest(sql: Sql, { room, restMs }: AgentRequest): Promise<void> {
  await runQuery(sql`
    insert into agent_requests (room, rests_until) values (${room}, now() + ${restMs} * interval '1 millisecond')
    on conflict (room) do update set rests_until = excluded.rests_until
  `);
}

/** Forgets what nobody is kept from asking by. */
export async function forgetAgentRequests(sql: Sql): Promise<void> {
  await runQuery(sql`delete from agent_requests where rests_until <= now() and room <> ${ALL_ROOMS}`);
}

/** Tells all workers that rooms wait for an agent because every place is taken. */
export async function noteWaitingRooms(sql: Sql, { forMs }: { readonly forMs: number }): Promise<void> {
  await noteAgentRequest(sql, { room: WAITING_ROOMS, restMs: forMs });
}

export async function areRoomsWaiting(sql: Sql): Promise<boolean> {
  const rows = await runQuery(sql`select from agent_requests where room = ${WAITING_ROOMS} and rests_until > now()`);
  return rows.length > 0;
}
