import { permissionColumns, type PermissionRecord } from "./permission-record.ts";
import { type Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/** A session's requests that can still be answered, the oldest first. */
export async function loadOpenPermissions(
  sql: Sql,
  { sessionId }: { readonly sessionId: string },
): Promise<PermissionRecord[]> {
  return await runQuery(sql<PermissionRecord[]>`
    select ${permissionColumns(sql)} from permissions
    where session_id = ${sessionId} and state = 'asked' and expires_at > now()
    order by created_at, id
  `);
}
