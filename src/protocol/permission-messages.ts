import * as z from "zod/mini";
import { id, integer, text } from "./fields.ts";

/** spec/004 in protobuf's JSON names; `createdAt` is Unix ms. */
export const permissionRequestSchema = z.object({
  id,
  type: text,
  pattern: z._default(z.array(text), []),
  sessionId: text,
  messageId: text,
  callId: z.exactOptional(text),
  title: text,
  metadataJson: z._default(text, ""),
  createdAt: integer,
});

export const permissionResponseSchema = z.object({
  /** Not needed: the sender's session is known. */
  sessionId: z.exactOptional(text),
  permissionId: id,
  /** `approve` and `once` are the same; `always` also grants later requests for the same pattern. */
  response: z.enum(["approve", "reject", "once", "always"]),
  message: z.exactOptional(text),
  /** JSON of an object: what the call runs with instead, where the tool allows it. */
  editedInputJson: z.exactOptional(text),
});
