import { permissionColumns, type PermissionRecord } from "./permission-record.ts";
import { type Sql } from "./pool.ts";
import { runQuery } from "./store-error.ts";

export interface PermissionEnd {
  readonly permissionId: string;
  /** Nobody answered in time, or the call is not wanted any more. */
  readonly state: "expired" | "withdrawn";
}

/** Ends an open request without an answer. Returns it as it stands then: an answer that was first stays. */
export async function closePermission(
  sql: Sql,
  { permissionId, state }: PermissionEnd,
): Promise<PermissionRecord | undefined> {
  await runQuery(sql`
    update permissions set state = ${state}, replied_at = now() where id = ${permissionId} and state = 'asked'
  `);
  const rows = await runQuery(sql<PermissionRecord[]>`
    select ${permissionColumns(sql)} from permissions where id = ${permissionId}
  `);
  return rows[0];
}
