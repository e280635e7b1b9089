import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { PERMISSION_CHANNEL } from "./reply-to-permission.ts";

/** Ten times, as WCAG 2.2.1 demands; a limit, so that nobody holds a call up for ever. */
const MAX_EXTENSIONS = 10;
/**
 * A request is extended again only after this share of its time has gone. Otherwise a hurried client could make one
 * extension after another, and all who follow the session would be told of each.
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

/** Until when a request is open now. */
export interface ExtendedPermission {
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly leftMs: number;
  /** Set when it was not extended because it had just been: how long to wait before asking again. */
  readonly retryAfterMs?: number;
}

/**
 * Gives an open request its whole time again from now on, and tells its session by `PERMISSION_CHANNEL`. It can be open
 * for at most eleven times as long as a request that nobody extends. After the first time, a tenth of its time must
 * have gone before it gets more.
 *
 * @returns `undefined` when it is not open, not for this participant, or can be open no longer
 */
export async function extendPermission(
  sql: Sql,
  { permissionId, sessionId, by, waitMs }: Extension,
): Promise<ExtendedPermission | undefined> {
  /** An SQL interval: `times` the usual time for an answer. */
  const waits = (times: number) => sql`${waitMs * times} * interval '1 millisecond'`;
  const last = sql`created_at + ${waits(1 + MAX_EXTENSIONS)}`;
  const isOpen = sql`
    id = ${permissionId} and session_id = ${sessionId} and participant_identity = ${by}
    and state = 'asked' and expires_at > now() and expires_at < ${last}
  `;
  const until = sql`
    expires_at as "expiresAt", greatest(0, ceil(extract(epoch from expires_at - clock_timestamp()) * 1000))::int as "leftMs"
  `;
  const rows = await runQuery(sql<(ExtendedPermission & { readonly isTold: boolean })[]>`
    with extended as (
      update permissions
      set expires_at = least(now() + ${waits(1)}, ${last})
      where ${isOpen} and expires_at <= greatest(created_at + ${waits(1)}, now() + ${waits(1 - USED_SHARE)})
      returning *
    )
    select ${until}, pg_notify(${PERMISSION_CHANNEL}, session_id || ' ' || id) is null as "isTold" from extended
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
