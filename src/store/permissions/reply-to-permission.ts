import type { JsonObject } from "../../lib/json.ts";
import { type Sql, jsonParameter } from "../database/pool.ts";
import { type PermissionRecord, type PermissionWay, permissionColumns } from "./load-permissions.ts";
import { runQuery } from "../database/store-error.ts";

/** The channel that notifies sessions of answers. A payload is the session's id, a space and the permission's id. */
export const PERMISSION_CHANNEL = "parley_permissions";

export type PermissionDecision =
  | {
      readonly kind: "approve";
      /** Whether the patterns of the approved arguments are also stored as grants, one grant per pattern. */
      readonly isAlways: boolean;
      /** The edited arguments, which `checkEditedInput` has accepted. */
      readonly edited?: EditedInput | undefined;
    }
  | { readonly kind: "reject"; readonly message?: string | undefined };

/** Arguments that replace the ones shown to the approver. */
export interface EditedInput {
  readonly input: JsonObject;
  /** Patterns of the values that the new arguments touch. `always` grants these patterns. */
  readonly patterns: readonly string[];
}

export interface PermissionReply {
  readonly permissionId: string;
  readonly sessionId: string;
  /** The identity of the participant that answers. */
  readonly by: string;
  readonly via: PermissionWay;
  readonly decision: PermissionDecision;
}

/**
 * Decides an open request. The first answer wins, no matter how it arrives or which process handles it. The same
 * statement stores the grants of an `always` answer and notifies `PERMISSION_CHANNEL`.
 *
 * @returns the decided request, or the reason why nothing changed. `unknown`: this session has no such request.
 *   `not_asked`: another participant is the approver. `answered`: the request was already answered, withdrawn or
 *   expired
 */
export async function replyToPermission(
  sql: Sql,
  reply: PermissionReply,
): Promise<PermissionRecord | "unknown" | "not_asked" | "answered"> {
  const { permissionId, sessionId, by, via, decision } = reply;
  const isApproved = decision.kind === "approve";
  const edited = isApproved ? decision.edited : undefined;
  const rows = await runQuery(sql<PermissionRecord[]>`
    with decided as (
      update permissions
      set state = ${isApproved ? "approved" : "rejected"},
        is_always = ${isApproved && decision.isAlways},
        message = ${isApproved ? null : (decision.message ?? null)},
        edited_input = ${jsonParameter(sql, edited?.input)},
        replied_by = ${by},
        replied_via = ${via},
        replied_at = now()
      where id = ${permissionId} and session_id = ${sessionId} and participant_identity = ${by}
        and state = 'asked' and expires_at > now()
      returning *
    ), granted as (
      insert into permission_grants (id, participant_identity, tool_name, type, pattern)
      select gen_random_uuid()::text, participant_identity, tool_name, type, granted_pattern
      from decided,
        jsonb_array_elements_text(coalesce(${jsonParameter(sql, edited?.patterns)}, pattern)) as granted_pattern
      -- In another participant's turn a yes is for that one call: a grant would let everybody use this one's device.
      where is_always and not jsonb_exists(metadata, 'participant')
      on conflict do nothing
    )
    select ${permissionColumns(sql)}, pg_notify(${PERMISSION_CHANNEL}, session_id || ' ' || id) is null as "isNotified"
    from decided as permissions
  `);
  if (rows[0]) return withoutMark(rows[0]);
  const existing = await runQuery(sql<{ asked: string }[]>`
    select participant_identity as asked from permissions where id = ${permissionId} and session_id = ${sessionId}
  `);
  if (!existing[0]) return "unknown";
  return existing[0].asked === by ? "answered" : "not_asked";
}

function withoutMark(row: PermissionRecord & { readonly isNotified?: boolean }): PermissionRecord {
  const { isNotified: _, ...permission } = row;
  return permission;
}
