import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { PERMISSION_CHANNEL } from "./reply-to-permission.ts";

/**
 * How many times a request can be extended. WCAG 2.2.1 demands ten. The limit keeps anyone from blocking a call
 * forever.
 */
const MAX_EXTENSIONS = 10;
/**
 * The share of the waiting time that must pass between two extensions of a request. Without this limit, a client could
 * extend a request in a loop, and everyone who follows the session would be notified each time.
 */
const USED_SHARE = 0.1;

interface Extension {
  readonly permissionId: string;
  readonly sessionId: string;
  /** The identity of the participant that asks for more time. */
  readonly by: string;
  /** How long a request waits for an answer. */
  readonly waitMs: number;
}

/** The request's new expiry. */
export interface ExtendedPermission {
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly leftMs: number;
  /** How long to wait before asking again. Set only if the request was not extended because of a recent extension. */
  readonly retryAfterMs?: number;
}

/**
 * Restarts the waiting time of an open request and notifies its session through `PERMISSION_CHANNEL`. In total, a
 * request stays open for at most eleven times `waitMs`. The first extension is possible at any time; each later one
 * only after a tenth of the waiting time has passed.
 *
 * @returns `undefined` if the request is not open, is for another participant, or has reached its maximum
 */
export async function extendPermission(
  sql: Sql,
  { permissionId, sessionId, by, waitMs }: Extension,
): Promise<ExtendedPermission | undefined> {
  /** Returns the waiting time multiplied by `times`, as an SQL interval. */
  const waits = (times: number) => sql`${waitMs * times} * interval '1 millisecond'`;
  const last = sql`created_at + ${waits(1 + MAX_EXTENSIONS)}`;
  const isOpen = sql`
    id = ${permissionId} and session_id = ${sessionId} and participant_identity = ${by}
    and state = 'asked' and expires_at > now() and expires_at < ${last}
  `;
  const until = sql`
    expires_at as "expiresAt", greatest(0, ceil(extract(epoch from expires_at - clock_timestamp()) * 1000))::int as "leftMs"
  `;
  const rows = await runQuery(sql<(ExtendedPermission & { readonly isNotified: boolean })[]>`
    with extended as (
      update permissions
      set expires_at = least(now() + ${waits(1)}, ${last})
      where ${isOpen} and expires_at <= greatest(created_at + ${waits(1)}, now() + ${waits(1 - USED_SHARE)})
      returning *
    )
    select ${until}, pg_notify(${PERMISSION_CHANNEL}, session_id || ' ' || id) is null as "isNotified" from extended
  `);
  const [row] = rows;
  if (row) return { expiresAt: row.expiresAt, leftMs: row.leftMs };
  const [unchanged] = await runQuery(sql<ExtendedPermission[]>`
    select ${until},
      greatest(0, ceil(extract(epoch from expires_at - now() - ${waits(1 - USED_SHARE)}) * 1000))::int as "retryAfterMs"
    from permissions where ${isOpen}
  `);
  return unchanged;
}
