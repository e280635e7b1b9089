import { permissionColumns, type PermissionRecord } from "./permission-record.ts";
import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

/** A request by its own id or by its call's, whatever has become of it. */
export async function loadPermission(
  sql: Sql,
  key: { readonly permissionId: string } | { readonly callId: string },
): Promise<PermissionRecord | undefined> {
  const where = "callId" in key ? sql`call_id = ${key.callId}` : sql`id = ${key.permissionId}`;
  const rows = await runQuery(sql<PermissionRecord[]>`
    select ${permissionColumns(sql)} from permissions where ${where}
  `);
  return rows[0];
}
