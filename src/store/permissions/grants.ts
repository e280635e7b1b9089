import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/** A participant's answer `always`. It approves later requests of this tool whose values match the pattern. */
export interface GrantRecord {
  readonly id: string;
  readonly toolName: string;
  /** The type of requests that the grant approves. `null`, in grants from older releases, means any type. */
  readonly type: string | null;
  readonly pattern: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** Returns the grants of one identity in all sessions, oldest first. */
export async function listGrants(sql: Sql, { identity }: { readonly identity: string }): Promise<GrantRecord[]> {
  return await runQuery(sql<GrantRecord[]>`
    select id, tool_name as "toolName", type, pattern, created_at as "createdAt" from permission_grants
    where participant_identity = ${identity}
    order by created_at, id
  `);
}

/** Deletes one of an identity's own grants. Returns `false` if the identity has no grant with this id. */
export async function deleteGrant(
  sql: Sql,
  { identity, grantId }: { readonly identity: string; readonly grantId: string },
): Promise<boolean> {
  const deleted = await runQuery(sql`
    delete from permission_grants where id = ${grantId} and participant_identity = ${identity}
  `);
  return deleted.count > 0;
}
