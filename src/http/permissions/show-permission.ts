import { toPermissionRequest } from "../../session/permission/to-permission-request.ts";
import type { PermissionRecord } from "../../store/permissions/load-permissions.ts";
import type { SseEvent } from "../sse/sse-stream.ts";

/** Returns a request as readers see it: the body of type 101, its approver, its expiry and the milliseconds left. */
export function showPermission(permission: PermissionRecord) {
  const { participantIdentity, expiresAt, leftMs } = permission;
  return { ...toPermissionRequest(permission), participantIdentity, expiresAt, leftMs };
}

export function toAskedEvent(permission: PermissionRecord): SseEvent {
  return { event: "permission.asked", data: { turnId: permission.messageId, ...showPermission(permission) } };
}

/** Reports that an open request has a new expiry. */
export function toExtendedEvent(permission: PermissionRecord): SseEvent {
  const { id: permissionId, sessionId, callId, messageId: turnId, expiresAt, leftMs } = permission;
  return { event: "permission.extended", data: { turnId, permissionId, sessionId, callId, expiresAt, leftMs } };
}

/** Reports that a request has ended, even if nobody answered it. `state` says how it ended. */
export function toRepliedEvent(permission: PermissionRecord): SseEvent {
  const { id: permissionId, sessionId, callId, messageId: turnId, state, isAlways, message, editedInput } = permission;
  const { repliedBy, repliedVia, repliedAt } = permission;
  const data = {
    turnId,
    permissionId,
    sessionId,
    callId,
    state,
    ...(isAlways && { isAlways }),
    ...(message !== null && { message }),
    ...(editedInput !== null && { editedInput }),
    ...(repliedBy !== null && { repliedBy }),
    ...(repliedVia !== null && { repliedVia }),
    ...(repliedAt !== null && { repliedAt }),
  };
  return { event: "permission.replied", data };
}
