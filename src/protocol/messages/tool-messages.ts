import * as v from "valibot";
import { choice, count, fraction, id, integer, isPlainMap, jsonMap, matching, text } from "./fields.ts";
import { TOOL_NAME } from "../limits.ts";

/** Who is to run the tool. It is checked before the rest of its request, which may be another's. */
export const executionSchema = v.object({ execution: choice("server", "client", "either") });

/** A missing or unknown `execution` makes the message malformed: nobody may guess who runs the tool. */
export const toolUseRequestSchema = v.object({
  id,
  messageId: id,
  toolName: matching(TOOL_NAME),
  parameters: jsonMap,
  ...executionSchema.entries,
  /** Absent or 0 means the default of 30000. */
  timeoutMs: v.exactOptional(count),
  /** Whose turn it is, where that is another participant than the one that is asked. */
  participant: v.exactOptional(text),
});

/** `id` is the request's; the wire carries it a second time as `requestId`. */
export const toolUseResultSchema = v.object({
  id,
  success: v.boolean(),
  result: v.exactOptional(jsonMap),
  errorCode: v.exactOptional(text),
  errorMessage: v.exactOptional(text),
});

/** What clients send as a result, made into the shape above before it is checked. */
export function normalizeToolUseResult(fields: Record<string, unknown>): Record<string, unknown> {
  const { requestId, result, ...rest } = fields;
  const normalized = requestId === undefined ? rest : { ...rest, id: requestId };
  if (result === undefined) return rest["success"] === true ? { ...normalized, result: {} } : normalized;
  return { ...normalized, result: isPlainMap(result) ? result : { value: result } };
}

/** ToolCallState of `proto/opencode/tool.proto` in protobuf's JSON names; times are Unix ms. */
export const toolCallStateSchema = v.object({
  id,
  name: text,
  status: choice("pending", "running", "success", "error", "cancelled"),
  callId: v.exactOptional(text),
  inputJson: v.optional(text, ""),
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
  /** A reason that is not known here still cancels. */
  reason: v.fallback(choice("timeout", "interrupted", "superseded", "closed"), "closed"),
});

export const toolUseProgressSchema = v.object({
  /** The request's id. */
  id,
  log: v.exactOptional(text),
  progress: v.exactOptional(fraction),
});

/** PermissionRequest of `proto/opencode/tool.proto` in protobuf's JSON names; `createdAt` is Unix ms. */
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
