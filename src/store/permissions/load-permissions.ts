import { type JsonObject } from "../../lib/json.ts";
import { type Sql } from "../database/pool.ts";
import { runQuery } from "../database/store-error.ts";

/** By which way an answer came. `data`: a PermissionResponse; `text`: a typed yes or no. */
export type PermissionWay = "data" | "http" | "rpc" | "voice" | "text";

/** What a tool wanted to do and what was said to it. Times are milliseconds since the epoch. */
export interface PermissionRecord {
  /** The PermissionRequest's id. */
  readonly id: string;
  readonly sessionId: string;
  readonly turnId: string;
  /** The ToolUseRequest's id. */
  readonly callId: string;
  /** The assistant message that the call belongs to. */
  readonly messageId: string;
  /** Who is asked, and whose answer alone counts. */
  readonly participantIdentity: string;
  readonly toolName: string;
  readonly type: string;
  /** What it would touch, as patterns that match it literally: `always` grants these. */
  readonly pattern: readonly string[];
  readonly title: string;
  readonly metadata: JsonObject;
  /** What of the call may be shown to others than the one who is asked. */
  readonly detail: "full" | "name" | "off";
  /** Of the tool and the arguments that were shown: the approval is for these alone. */
  readonly inputHash: string;
  /** What edited arguments must match; `null` where the tool takes none. */
  readonly editedInputSchema: JsonObject | null;
  readonly state: "asked" | "approved" | "rejected" | "expired" | "withdrawn";
  /** An approval that was stored as a grant as well. */
  readonly isAlways: boolean;
  /** What the participant said beside a no. */
  readonly message: string | null;
  readonly editedInput: JsonObject | null;
  readonly repliedBy: string | null;
  readonly repliedVia: PermissionWay | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly repliedAt: number | null;
  /** Until it expires, by the database's clock when it was read; 0 when that is over. */
  readonly leftMs: number;
}

/** What a select or a returning clause must list to give records. */
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
