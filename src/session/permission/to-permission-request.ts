import { LIMITS } from "../../protocol/limits.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import type { PermissionRecord } from "../../store/permissions/load-permissions.ts";

/** Converts a stored request to a PermissionRequest. */
export function toPermissionRequest(permission: PermissionRecord): MessageBody<"permission_request"> {
  const { id, type, pattern, sessionId, messageId, callId, title, createdAt } = permission;
  const metadataJson = toMetadataJson(permission);
  return { id, type, pattern: [...pattern], sessionId, messageId, callId, title, metadataJson, createdAt };
}

/**
 * Returns the tool's metadata, plus what a client needs to show the question and its countdown. Metadata that is too
 * long is omitted.
 */
function toMetadataJson({ metadata, expiresAt, leftMs, editedInputSchema }: PermissionRecord): string {
  const allowEditedInput = editedInputSchema !== null;
  const whole = JSON.stringify({ ...metadata, allowEditedInput, expiresAt, leftMs });
  if (whole.length * 3 <= LIMITS.stringBytes) return whole;
  const { toolName = null, participant } = metadata;
  return JSON.stringify({ toolName, participant, allowEditedInput, expiresAt, leftMs });
}
