import * as v from "valibot";
import { choice, count, fraction, id, integer, isPlainMap, jsonMap, matching, text } from "./fields.ts";
import { TOOL_NAME } from "../limits.ts";

/** Who is to run the tool. A reader checks this first: a request that another end runs need not be valid for it. */
export const executionSchema = v.object({ execution: choice("server", "client", "either") });

/** A missing or unknown `execution` makes the message malformed: a reader must not guess who runs the tool. */
export const toolUseRequestSchema = v.object({
  id,
  messageId: id,
  toolName: matching(TOOL_NAME),
  parameters: jsonMap,
  ...executionSchema.entries,
  /** Absent or 0 means the default of 30000. */
  timeoutMs: v.exactOptional(count),
  /** The participant whose turn it is; absent if that is the addressee. */
  participant: v.exactOptional(text),
});

/** `id` is the request's id. On the wire it stands a second time, as `requestId`. */
export const toolUseResultSchema = v.object({
  id,
  success: v.boolean(),
  result: v.exactOptional(jsonMap),
  /** From a client: content blocks for the model; bytes in them become `{base64}`. */
  content: v.exactOptional(v.array(jsonMap)),
  /** What clients may display. */
  display: v.exactOptional(jsonMap),
  errorCode: v.exactOptional(text),
  errorMessage: v.exactOptional(text),
});

/** Brings a client's result into the shape above, before it is checked. */
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
  /** JSON; absent where the arguments are not shown. */
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
  /** A message with an unknown reason still cancels. */
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
  /** The worker does not need it: it knows the sender's session. */
  sessionId: v.exactOptional(text),
  permissionId: id,
  /** `approve` and `once` mean the same. `always` also grants later requests for the same patterns. */
  response: choice("approve", "reject", "once", "always"),
  message: v.exactOptional(text),
  /** JSON of an object: the arguments that the call runs with instead, if the tool allows that. */
  editedInputJson: v.exactOptional(text),
  /** Only from the worker: how the request ended. */
  state: v.exactOptional(choice("approved", "rejected", "expired", "withdrawn")),
});
