import { z } from "zod";
import { id, integer, isPlainMap, jsonMap, text } from "./fields.ts";
import { TOOL_NAME } from "./limits.ts";

/** spec/000. A missing or unknown `execution` makes the message malformed, as the spec asks. */
export const toolUseRequestSchema = z.object({
  id,
  messageId: id,
  toolName: z.string().regex(TOOL_NAME),
  parameters: jsonMap.default({}),
  execution: z.enum(["server", "client", "either"]),
  /** Absent or 0 means the default of 30000. */
  timeoutMs: integer.min(0).exactOptional(),
});

/** spec/001. `id` is the request's; the wire carries it a second time as `requestId`. */
export const toolUseResultSchema = z.object({
  id,
  success: z.boolean(),
  result: jsonMap.exactOptional(),
  errorCode: text.exactOptional(),
  errorMessage: text.exactOptional(),
});

/** What clients send as a result, made into spec/001's shape before it is checked. */
export function normalizeToolUseResult(fields: Record<string, unknown>): Record<string, unknown> {
  const { requestId, result, ...rest } = fields;
  const normalized = requestId === undefined ? rest : { ...rest, id: requestId };
  if (result === undefined) return rest["success"] === true ? { ...normalized, result: {} } : normalized;
  return { ...normalized, result: isPlainMap(result) ? result : { value: result } };
}

/** spec/004 in protobuf's JSON names; times are Unix ms. */
export const toolCallStateSchema = z.object({
  id,
  name: text,
  status: z.enum(["pending", "running", "success", "error", "cancelled"]),
  callId: text.exactOptional(),
  inputJson: text.default(""),
  output: text.exactOptional(),
  error: text.exactOptional(),
  logs: z.array(text).default([]),
  metadataJson: text.default(""),
  startedAt: integer.exactOptional(),
  finishedAt: integer.exactOptional(),
});

export const toolUseCancelSchema = z.object({
  /** The request's id. */
  id,
  /** A reason that is not known here still cancels. */
  reason: z.enum(["timeout", "interrupted", "superseded", "closed"]).catch("closed"),
});

export const toolUseProgressSchema = z.object({
  /** The request's id. */
  id,
  log: text.exactOptional(),
  progress: z.number().min(0).max(1).exactOptional(),
});
