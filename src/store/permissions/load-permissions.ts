import type { JsonObject } from "../../lib/json.ts";
import type { Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/** How an answer arrived. `data`: a PermissionResponse; `text`: a typed yes or no. */
export type PermissionWay = "data" | "http" | "rpc" | "voice" | "text";

/** A permission request and its answer. Times are milliseconds since the epoch. */
export interface PermissionRecord {
  /** The PermissionRequest's id. */
  readonly id: string;
  readonly sessionId: string;
  readonly turnId: string;
  /** The ToolUseRequest's id. */
  readonly callId: string;
  /** The assistant message that the call belongs to. */
  readonly messageId: string;
  /** The approver: only this participant's answer counts. */
  readonly participantIdentity: string;
  readonly toolName: string;
  readonly type: string;
  /** The values that the call would touch, as patterns that match them literally. `always` grants these patterns. */
  readonly pattern: readonly string[];
  readonly title: string;
  readonly metadata: JsonObject;
  /** How much of the call other participants may see. */
  readonly detail: "full" | "name" | "off";
  /** A hash of the tool and the arguments shown to the approver. The approval is valid for these only. */
  readonly inputHash: string;
  /** The JSON Schema for edited arguments; `null` if the tool accepts none. */
  readonly editedInputSchema: JsonObject | null;
  readonly state: "asked" | "approved" | "rejected" | "expired" | "withdrawn";
  /** Whether the approval was also stored as grants. */
  readonly isAlways: boolean;
  /** The approver's explanation of a rejection. */
  readonly message: string | null;
  readonly editedInput: JsonObject | null;
  readonly repliedBy: string | null;
  readonly repliedVia: PermissionWay | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly repliedAt: number | null;
  /** Milliseconds until the request expires, by the database's clock when the row was read; 0 if it has expired. */
  readonly leftMs: number;
}

/** Returns the columns of a `PermissionRecord`, for a select or a returning clause. */
export function permissionColumns(sql: Sql) {
  return sql`
    permissions.id, permissions.session_id as "sessionId", permissions.turn_id as "turnId",
    permissions.call_id as "callId", permissions.message_id as "messageId",
    permissions.participant_identity as "participantIdentity", permissions.tool_name as "toolName",
    permissions.type, permissions.pattern, permissions.title, permissions.metadata,
    (select detail from tool_calls where tool_calls.id = permissions.call_id) as detail,
    permissions.input_hash as "inputHash", permissions.edited_input_schema as "editedInputSchema",
    permissions.state, permissions.is_always as "isAlways", permissions.message,
    permissions.edited_input as "editedInput", permissions.replied_by as "repliedBy",
    permissions.replied_via as "repliedVia", permissions.created_at as "createdAt",
    permissions.expires_at as "expiresAt", permissions.replied_at as "repliedAt",
    greatest(0, ceil(extract(epoch from permissions.expires_at - clock_timestamp()) * 1000))::int as "leftMs"
  `;
}

/** Loads a request in any state. */
export async function loadPermission(
  sql: Sql,
  { permissionId }: { readonly permissionId: string },
): Promise<PermissionRecord | undefined> {
  const rows = await runQuery(sql<PermissionRecord[]>`
    select ${permissionColumns(sql)} from permissions where id = ${permissionId}
  `);
  return rows[0];
}

/** Loads a session's requests that can still be answered, oldest first. */
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
