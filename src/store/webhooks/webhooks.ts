import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import type { SessionRoom } from "../sessions/session-rooms.ts";

/** A webhook that this worker should send now. */
export interface DueWebhook extends SessionRoom {
  readonly id: string;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
}

interface Take {
  readonly limit: number;
  /** How long no other worker may send the webhook. */
  readonly leaseMs: number;
}

/** Takes due webhooks, longest overdue first. Each is taken by only one worker. */
export async function takeWebhooks(sql: Sql, { limit, leaseMs }: Take): Promise<readonly DueWebhook[]> {
  return await runQuery(sql<DueWebhook[]>`
    update webhooks set attempts = attempts + 1, due_at = now() + ${leaseMs} * interval '1 millisecond'
    where id in (
      select id from webhooks where state = 'waiting' and due_at <= now()
      order by due_at limit ${limit} for update skip locked
    )
    returning id, session_id as "sessionId", room_sid as "roomSid", attempts as attempt
  `);
}

export async function markDelivered(sql: Sql, { id }: Pick<DueWebhook, "id">): Promise<void> {
  await runQuery(sql`
    update webhooks set state = 'delivered', finished_at = now(), last_error = null where id = ${id}
  `);
}

interface Failure extends Pick<DueWebhook, "id" | "attempt"> {
  readonly why: string;
  /** Time until the next attempt; `undefined` marks the webhook as dead. */
  readonly nextInMs: number | undefined;
}

/** Stores that an attempt failed. Does nothing if another worker has started a later attempt. */
export async function markFailed(sql: Sql, { id, attempt, why, nextInMs }: Failure): Promise<void> {
  const isDead = nextInMs === undefined;
  await runQuery(sql`
    update webhooks set
      last_error = ${why},
      state = ${isDead ? "dead" : "waiting"},
      finished_at = case when ${isDead}::boolean then now() end,
      due_at = now() + ${nextInMs ?? 0} * interval '1 millisecond'
    where id = ${id} and state = 'waiting' and attempts = ${attempt}
  `);
}

/** A webhook as shown to operators. */
interface WebhookStatus {
  readonly id: string;
  readonly state: "waiting" | "delivered" | "dead";
  readonly attempts: number;
  readonly room: string;
  /** When the room ended, in Unix ms. */
  readonly endedAt: number;
  /** When the next attempt is due; `null` if there is none. */
  readonly dueAt: number | null;
  /** Why the last attempt failed: an HTTP status or an error code. */
  readonly lastError: string | null;
}

/** Returns the webhooks that were not delivered, oldest first. */
export async function listUndelivered(sql: Sql): Promise<readonly WebhookStatus[]> {
  return await runQuery(sql<WebhookStatus[]>`
    select
      webhooks.id, state, attempts, coalesce(room, conversation_id) as room, ended_at as "endedAt",
      case when state = 'waiting' then due_at end as "dueAt", last_error as "lastError"
    from webhooks join session_rooms using (session_id, room_sid) join sessions on sessions.id = session_id
    where state <> 'delivered'
    order by webhooks.created_at, webhooks.id
  `);
}

/**
 * Schedules the given webhooks, or all dead ones, to be sent again with the full number of attempts.
 *
 * @returns the ids of the scheduled webhooks
 */
export async function retryWebhooks(sql: Sql, which: readonly string[] | "dead"): Promise<string[]> {
  const rows = await runQuery(sql<{ id: string }[]>`
    update webhooks set state = 'waiting', attempts = 0, due_at = now(), finished_at = null
    where ${which === "dead" ? sql`state = 'dead'` : sql`id in ${sql(which)}`}
    returning id
  `);
  return rows.map(({ id }) => id);
}
