import { type PermissionRecord } from "../store/permission-record.ts";

/** A request as readers are shown it: spec/004's fields, whom it asks, and how long they have. */
export function showPermission(permission: PermissionRecord) {
  const { id, type, pattern, sessionId, messageId, callId, title, createdAt } = permission;
  const { toolName, editedInputSchema, participantIdentity, expiresAt, leftMs } = permission;
  return {
    id,
    type,
    pattern,
    sessionId,
    messageId,
    callId,
    title,
    metadataJson: JSON.stringify(permission.metadata),
    createdAt,
    toolName,
    allowsEditedInput: editedInputSchema !== null,
    participantIdentity,
    expiresAt,
    leftMs,
  };
}
