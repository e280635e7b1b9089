import { type PermissionRecord } from "../store/permission-record.ts";

/** A request in opencode's words (its `PermissionRequest`). Its ids are ours: opencode's begin otherwise, and its clients do not mind. */
export function toOpencodePermission(permission: PermissionRecord) {
  const { id, sessionId, type, pattern, metadata, messageId, callId, title } = permission;
  return {
    id,
    sessionID: sessionId,
    permission: type,
    patterns: pattern,
    metadata: { ...metadata, title },
    // What `always` would grant.
    always: pattern,
    tool: { messageID: messageId, callID: callId },
  };
}
