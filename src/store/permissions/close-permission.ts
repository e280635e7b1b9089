import { permissionColumns, type PermissionRecord } from "./permission-record.ts";
import { writeHeld, type SessionWriter } from "../sessions/session-writer.ts";
import { runQuery } from "../database/store-error.ts";

export interface PermissionEnd {
  readonly permissionId: string;
  /** Nobody answered in time, or the call is not wanted any more. */
  readonly state: "expired" | "withdrawn";
}

/** Ends an open request without an answer. Returns it as it stands then: an answer that was first stays. */
export async function closePermission(
  writer: SessionWriter,
  { permissionId, state }: PermissionEnd,
): Promise<PermissionRecord | undefined> {
  const { sql } = writer;
  const statement = sql`
    update permissions set state = ${state}, replied_at = now() from held
    where id = ${permissionId} and state = 'asked'
    returning id
  `;
  await writeHeld(writer, statement);
  const rows = await runQuery(sql<PermissionRecord[]>`
    select ${permissionColumns(sql)} from permissions where id = ${permissionId}
  `);
  return rows[0];
}

/** Ends all open requests of a call, and returns them as they are then. */
export async function withdrawPermissions(
  writer: SessionWriter,
  { callId }: { readonly callId: string },
): Promise<readonly PermissionRecord[]> {
  const { sql } = writer;
  return await writeHeld<PermissionRecord>(
    writer,
    sql`
      update permissions set state = 'withdrawn', replied_at = now() from held
      where call_id = ${callId} and state = 'asked'
      returning ${permissionColumns(sql)}
    `,
  );
}
