import * as v from "valibot";
import { choice, id, integer, text } from "./fields.ts";

/** spec/004 in protobuf's JSON names; `createdAt` is Unix ms. */
export const permissionRequestSchema = v.object({
  id,
  type: text,
  pattern: v.optional(v.array(text), []),
  sessionId: text,
  messageId: text,
  callId: v.exactOptional(text),
  title: text,
  metadataJson: v.optional(text, ""),
  createdAt: integer,
});

export const permissionResponseSchema = v.object({
  /** Not needed: the sender's session is known. */
  sessionId: v.exactOptional(text),
  permissionId: id,
  /** `approve` and `once` are the same; `always` also grants later requests for the same pattern. */
  response: choice("approve", "reject", "once", "always"),
  message: v.exactOptional(text),
  /** JSON of an object: what the call runs with instead, where the tool allows it. */
  editedInputJson: v.exactOptional(text),
  /** Of the worker's: what became of the request. */
  state: v.exactOptional(choice("approved", "rejected", "expired", "withdrawn")),
});
