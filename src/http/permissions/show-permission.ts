import { toPermissionRequest } from "../../session/permission/to-permission-request.ts";
import type { PermissionRecord } from "../../store/permissions/load-permissions.ts";
import type { SseEvent } from "../sse/sse-stream.ts";

/** A request in the form for readers: the body of type 101, its approver, and the time that is left in ms. */
export function showPermission(permission: PermissionRecord) {
  const { participantIdentity, expiresAt, leftMs } = permission;
  return { ...toPermissionRequest(permission), participantIdentity, expiresAt, leftMs };
}

export function toAskedEvent(permission: PermissionRecord): SseEvent {
  return { event: "permission.asked", data: { turnId: permission.messageId, ...showPermission(permission) } };
}

/** Tells that an open request waits longer than before. */
export function toExtendedEvent(permission: PermissionRecord): SseEvent {
  const { id: permissionId, sessionId, callId, messageId: turnId, expiresAt, leftMs } = permission;
  return { event: "permission.extended", data: { turnId, permissionId, sessionId, callId, expiresAt, leftMs } };
}

/** Tells that a request is over, also when nobody answered it: `state` says how it ended. */
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
