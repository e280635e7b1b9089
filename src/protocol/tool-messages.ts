import * as z from "zod/mini";
import { id, integer, isPlainMap, jsonMap, text } from "./fields.ts";
import { TOOL_NAME } from "./limits.ts";

/** spec/000. A missing or unknown `execution` makes the message malformed, as the spec asks. */
export const toolUseRequestSchema = z.object({
  id,
  messageId: id,
  toolName: z.string().check(z.regex(TOOL_NAME)),
  parameters: z._default(jsonMap, {}),
  execution: z.enum(["server", "client", "either"]),
  /** Absent or 0 means the default of 30000. */
  timeoutMs: z.exactOptional(integer.check(z.minimum(0))),
});

/** spec/001. `id` is the request's; the wire carries it a second time as `requestId`. */
export const toolUseResultSchema = z.object({
  id,
  success: z.boolean(),
  result: z.exactOptional(jsonMap),
  errorCode: z.exactOptional(text),
  errorMessage: z.exactOptional(text),
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
  callId: z.exactOptional(text),
  inputJson: z._default(text, ""),
  output: z.exactOptional(text),
  error: z.exactOptional(text),
  logs: z._default(z.array(text), []),
  metadataJson: z._default(text, ""),
  startedAt: z.exactOptional(integer),
  finishedAt: z.exactOptional(integer),
});

export const toolUseCancelSchema = z.object({
  /** The request's id. */
  id,
  /** A reason that is not known here still cancels. */
  reason: z.catch(z.enum(["timeout", "interrupted", "superseded", "closed"]), "closed"),
});

export const toolUseProgressSchema = z.object({
  /** The request's id. */
  id,
  log: z.exactOptional(text),
  progress: z.exactOptional(z.number().check(z.minimum(0), z.maximum(1))),
});
