import { isRecord } from "../../lib/json.ts";
import { MESSAGE_TYPES } from "../../protocol/messages/message-types.ts";
import { peekEnvelope } from "../../protocol/codec/peek.ts";

/** What a packet says that it answers: a call, the stanza that carried one's request, or a permission request. */
export type AnsweredRequest =
  | { readonly kind: "result" | "error"; readonly callId: string }
  | { readonly kind: "claim"; readonly stanzaId: number }
  | { readonly kind: "permission"; readonly permissionId: string };

/** Looks no further into a packet than it must: it may be one too many. */
export function answeredRequest(bytes: Uint8Array): AnsweredRequest | undefined {
  const { type, body } = peekEnvelope(bytes);
  if (!isRecord(body)) return undefined;
  const { id, requestId = id, originatingId, permissionId, acknowledgedStanzaId } = body;
  if (type === MESSAGE_TYPES.tool_use_result && typeof requestId === "string")
    return { kind: "result", callId: requestId };
  if (type === MESSAGE_TYPES.error_message && typeof originatingId === "string")
    return { kind: "error", callId: originatingId };
  if (type === MESSAGE_TYPES.permission_response && typeof permissionId === "string")
    return { kind: "permission", permissionId };
  if (type === MESSAGE_TYPES.acknowledgement && typeof acknowledgedStanzaId === "number")
    return { kind: "claim", stanzaId: Math.abs(acknowledgedStanzaId) };
  return undefined;
}
