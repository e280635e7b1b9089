import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { PERMISSION_CHANNEL } from "./reply-to-permission.ts";

/** Who needs more time to answer must be able to get it ten times (WCAG 2.2.1), and nobody holds a call for ever. */
const MAX_EXTENSIONS = 10;

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
}

/**
 * Gives an open request its whole time again from now on, and tells its session by `PERMISSION_CHANNEL`. It can be open
 * for at most eleven times as long as a request that nobody extends.
 *
 * @returns `undefined` when it is not open, not for this participant, or can be open no longer
 */
export async function extendPermission(
  sql: Sql,
  { permissionId, sessionId, by, waitMs }: Extension,
): Promise<ExtendedPermission | undefined> {
  const rows = await runQuery(sql<(ExtendedPermission & { readonly isTold: boolean })[]>`
    with extended as (
      update permissions
      set expires_at = least(
        now() + ${waitMs} * interval '1 millisecond',
        created_at + ${waitMs * (1 + MAX_EXTENSIONS)} * interval '1 millisecond'
      )
      where id = ${permissionId} and session_id = ${sessionId} and participant_identity = ${by}
        and state = 'asked' and expires_at > now()
        and expires_at < created_at + ${waitMs * (1 + MAX_EXTENSIONS)} * interval '1 millisecond'
      returning *
    )
    select expires_at as "expiresAt",
      greatest(0, ceil(extract(epoch from expires_at - clock_timestamp()) * 1000))::int as "leftMs",
      pg_notify(${PERMISSION_CHANNEL}, session_id || ' ' || id) is null as "isTold"
    from extended
  `);
  const [row] = rows;
  return row && { expiresAt: row.expiresAt, leftMs: row.leftMs };
}
