import { permissionColumns, type PermissionRecord } from "./permission-record.ts";
import { type Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/** A request, whatever has become of it. */
export async function loadPermission(
  sql: Sql,
  { permissionId }: { readonly permissionId: string },
): Promise<PermissionRecord | undefined> {
  const rows = await runQuery(sql<PermissionRecord[]>`
    select ${permissionColumns(sql)} from permissions where id = ${permissionId}
  `);
  return rows[0];
}
