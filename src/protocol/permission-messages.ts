import { z } from "zod";
import { id, integer, text } from "./fields.ts";

/** spec/004 in protobuf's JSON names; `createdAt` is Unix ms. */
export const permissionRequestSchema = z.object({
  id,
  type: text,
  pattern: z.array(text).default([]),
  sessionId: text,
  messageId: text,
  callId: text.exactOptional(),
  title: text,
  metadataJson: text.default(""),
  createdAt: integer,
});

export const permissionResponseSchema = z.object({
  /** Not needed: the sender's session is known. */
  sessionId: text.exactOptional(),
  permissionId: id,
  /** `approve` and `once` are the same; `always` also grants later requests for the same pattern. */
  response: z.enum(["approve", "reject", "once", "always"]),
  message: text.exactOptional(),
});
