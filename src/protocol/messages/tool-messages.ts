import * as v from "valibot";
import { choice, count, fraction, id, integer, isPlainMap, jsonMap, matching, text } from "./fields.ts";
import { TOOL_NAME } from "../limits.ts";

/**
 * Who should run the tool. Receivers check this first: the rest of a request may be invalid if the other end runs it.
 */
export const executionSchema = v.object({ execution: choice("server", "client", "either") });

/**
 * A missing or unknown `execution` makes the message malformed, because a receiver must not guess who runs the tool.
 */
export const toolUseRequestSchema = v.object({
  id,
  messageId: id,
  toolName: matching(TOOL_NAME),
  parameters: jsonMap,
  ...executionSchema.entries,
  /** Absent or 0 means the default of 30000. */
  timeoutMs: v.exactOptional(count),
  /** The participant whose turn it is. Absent if that is the addressee. */
  participant: v.exactOptional(text),
});

/** `id` is the request's id. On the wire it is repeated as `requestId`. */
export const toolUseResultSchema = v.object({
  id,
  success: v.boolean(),
  result: v.exactOptional(jsonMap),
  /** From a client: content blocks for the model. Bytes in them become `{base64}`. */
  content: v.exactOptional(v.array(jsonMap)),
  /** What clients may display. */
  display: v.exactOptional(jsonMap),
  errorCode: v.exactOptional(text),
  errorMessage: v.exactOptional(text),
});

/** Converts a client's result to the shape above, before it is checked. */
export function normalizeToolUseResult(fields: Record<string, unknown>): Record<string, unknown> {
  const { requestId, result, ...rest } = fields;
  const normalized = requestId === undefined ? rest : { ...rest, id: requestId };
  if (result === undefined) return rest["success"] === true ? { ...normalized, result: {} } : normalized;
  return { ...normalized, result: isPlainMap(result) ? result : { value: result } };
}

/** ToolCallState from `proto/opencode/tool.proto`, with protobuf's JSON names. Times are Unix ms. */
export const toolCallStateSchema = v.object({
  id,
  name: text,
  status: choice("pending", "running", "success", "error", "cancelled"),
  callId: v.exactOptional(text),
  /** The arguments as JSON. Absent if they are not shown. */
  inputJson: v.exactOptional(text),
  output: v.exactOptional(text),
  error: v.exactOptional(text),
  logs: v.optional(v.array(text), []),
  metadataJson: v.optional(text, ""),
  startedAt: v.exactOptional(integer),
  finishedAt: v.exactOptional(integer),
});

export const toolUseCancelSchema = v.object({
  /** The request's id. */
  id,
  /** An unknown reason falls back to `closed`, so the message still cancels. */
  reason: v.fallback(choice("timeout", "interrupted", "superseded", "closed"), "closed"),
});

export const toolUseProgressSchema = v.object({
  /** The request's id. */
  id,
  log: v.exactOptional(text),
  progress: v.exactOptional(fraction),
});

/** PermissionRequest from `proto/opencode/tool.proto`, with protobuf's JSON names. `createdAt` is Unix ms. */
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
  /** Not needed by the worker, which knows the sender's session. */
  sessionId: v.exactOptional(text),
  permissionId: id,
  /** `approve` and `once` mean the same. `always` also grants later requests for the same patterns. */
  response: choice("approve", "reject", "once", "always"),
  message: v.exactOptional(text),
  /** A JSON object with the arguments that replace the model's, if the tool allows editing. */
  editedInputJson: v.exactOptional(text),
  /** Only from the worker: how the request ended. */
  state: v.exactOptional(choice("approved", "rejected", "expired", "withdrawn")),
});
