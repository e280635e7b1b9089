import { AppError } from "../../errors/app-error.ts";
import { jsonParameter } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";
import { type SessionWriter, writeFenced } from "../sessions/session-writer.ts";
import { type PermissionRecord, permissionColumns } from "./load-permissions.ts";

export interface NewPermission extends Pick<
  PermissionRecord,
  | "id"
  | "turnId"
  | "callId"
  | "messageId"
  | "participantIdentity"
  | "toolName"
  | "type"
  | "pattern"
  | "title"
  | "metadata"
  | "inputHash"
  | "editedInputSchema"
> {
  /**
   * Whether a running tool asks (`context.ask`). A call may have many such requests, in addition to the one for
   * permission to start.
   */
  readonly whileRunning: boolean;
  /** How long to wait for an answer. The time counts from the insert, by the database's clock. */
  readonly waitMs: number;
}

/**
 * Stores a request before its approver is asked. A call has at most one request for permission to start. If that
 * request is already stored (because the database's reply was lost, or an earlier worker asked), the stored request is
 * returned.
 */
export async function insertPermission(writer: SessionWriter, permission: NewPermission): Promise<PermissionRecord> {
  const { id, callId, whileRunning, waitMs } = permission;
  const { sql, lease } = writer;
  const statement = sql`
    insert into permissions (
      id, session_id, turn_id, call_id, message_id, participant_identity, tool_name, type, pattern, title, metadata,
      input_hash, edited_input_schema, while_running, expires_at
    ) select
      ${permission.id}, ${lease.sessionId}, ${permission.turnId}, ${callId}, ${permission.messageId},
      ${permission.participantIdentity}, ${permission.toolName}, ${permission.type}, ${sql.json(permission.pattern)},
      ${permission.title}, ${sql.json(permission.metadata)}, ${permission.inputHash},
      ${jsonParameter(sql, permission.editedInputSchema)}, ${whileRunning}, now() + ${waitMs} * interval '1 millisecond'
    from fence
    on conflict do nothing
    returning ${permissionColumns(sql)}
  `;
  const inserted = await writeFenced<PermissionRecord>(writer, statement);
  if (inserted[0]) return inserted[0];
  const existing = await runQuery(sql<PermissionRecord[]>`
    select ${permissionColumns(sql)} from permissions
    where id = ${id} or (call_id = ${callId} and not while_running and not ${whileRunning}::boolean)
  `);
  if (existing[0]) return existing[0];
  throw new AppError("internal", "The permission request could not be stored");
}

export type PermissionEnd = {
  readonly permissionId: string;
} & (
  | {
      /** Nobody answered in time. */
      readonly state: "expired";
      /** The request's `expiresAt` when the caller last read it, in milliseconds since the epoch. */
      readonly expiresAt: number;
    }
  /** The call no longer needs an answer. */
  | { readonly state: "withdrawn" }
);

/**
 * Ends an open request without an answer and returns it. A request that was already answered is returned unchanged. A
 * request that was extended beyond the caller's `expiresAt` stays `asked`.
 */
export async function endPermission(writer: SessionWriter, end: PermissionEnd): Promise<PermissionRecord | undefined> {
  const { sql } = writer;
  const { permissionId, state } = end;
  // The stored expiry is compared with the one that the caller read, not with the current time, because the worker's
  // and the database's clocks may differ.
  const isDue = end.state === "expired" ? sql`expires_at < to_timestamp(${end.expiresAt + 1} / 1000.0)` : sql`true`;
  const statement = sql`
    update permissions set state = ${state}, replied_at = now() from fence
    where id = ${permissionId} and state = 'asked' and ${isDue}
    returning id
  `;
  await writeFenced(writer, statement);
  const rows = await runQuery(sql<PermissionRecord[]>`
    select ${permissionColumns(sql)} from permissions where id = ${permissionId}
  `);
  return rows[0];
}

/**
 * Ends all open requests of a call. Returns all of the call's requests that ended unanswered within the last 30
 * seconds, including those that `saveCall` ended together with the call.
 */
export async function withdrawPermissions(
  writer: SessionWriter,
  { callId }: { readonly callId: string },
): Promise<readonly PermissionRecord[]> {
  const { sql } = writer;
  const statement = sql`
    update permissions set state = 'withdrawn', replied_at = now() from fence
    where call_id = ${callId} and state = 'asked'
    returning id
  `;
  await writeFenced(writer, statement);
  return await runQuery(sql<PermissionRecord[]>`
    select ${permissionColumns(sql)} from permissions
    where call_id = ${callId} and state in ('withdrawn', 'expired') and replied_at > now() - interval '30 seconds'
    order by created_at
  `);
}
