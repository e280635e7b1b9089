import type { ExecutionStatus, MessagePart } from "./message-part.ts";
import type { Representation } from "./representation.ts";
import type { FunctionCall, FunctionResponse, ServerCall, ServerResponse } from "./tool-half.ts";

/** A server tool's call with its response, or one of the two alone. */
export type ServerExchange =
  | { readonly call: ServerCall; readonly response?: ServerResponse }
  | { readonly call?: undefined; readonly response: ServerResponse };

/**
 * Returns the part of a function tool, which is the same in every representation. Option 1 also adds a `tool_call` next
 * to the `arguments` that current consumers expect, and a `type` in the response.
 */
export function toFunctionPart(half: FunctionCall | FunctionResponse, representation: Representation): MessagePart {
  const isTyped = representation === "tool_call";
  if (half.kind === "function_call") {
    const { name, arguments: input } = half;
    const typed = isTyped ? { tool_call: { type: "function", arguments: input } } : {};
    return { type: "tool_call", ...idOf(half), name, arguments: input, ...typed };
  }
  const error = half.isError ? { is_error: true as const } : {};
  if (!isTyped) return { type: "tool_call_response", ...idOf(half), response: half.response, ...error };
  const response = { type: "function", content: half.response, ...error };
  return { type: "tool_call_response", ...idOf(half), response };
}

/** Returns the part of a server tool's call or response in Option 2. */
export function toServerToolCallPart(half: ServerCall | ServerResponse): MessagePart {
  return half.kind === "server_call"
    ? { type: "server_tool_call", ...idOf(half), name: half.name, server_tool_call: half.details }
    : { type: "server_tool_call_response", ...idOf(half), server_tool_call_response: half.details };
}

/** Returns the part of a server tool's call or response in Option 1. */
export function toToolCallPart(half: ServerCall | ServerResponse): MessagePart {
  return half.kind === "server_call"
    ? { type: "tool_call", ...idOf(half), name: half.name, tool_call: half.details }
    : { type: "tool_call_response", ...idOf(half), response: half.details };
}

/** Returns the part of a server tool's call and response in the first structure of Option 3. */
export function toServerToolPart(exchange: ServerExchange): MessagePart {
  const { call, response } = exchange;
  return {
    type: "server_tool",
    ...idOf(call ?? response),
    name: nameOf(exchange),
    ...(call && { tool_call: call.details }),
    ...(response && { tool_response: response.details }),
    status: statusOf(exchange),
  };
}

/** Returns the part of a server tool's call and response in the second structure of Option 3. */
export function toServerToolExecutionPart(exchange: ServerExchange, timing: ToolTiming | undefined): MessagePart {
  const { call, response } = exchange;
  return {
    type: "server_tool_execution",
    ...idOf(call ?? response),
    name: nameOf(exchange),
    ...(call && { request: call.details }),
    ...(response && { response: response.details }),
    execution_metadata: { status: statusOf(exchange), ...toTimingFields(timing) },
  };
}

function idOf({ id }: { readonly id: string | undefined }): { readonly id?: string } {
  return id === undefined ? {} : { id };
}

/**
 * Returns the tool's name. Without its call, a response contains only its type, which for most tools equals the name.
 */
function nameOf({ call, response }: ServerExchange): string {
  return call === undefined ? response.details.type : call.name;
}

function statusOf({ response }: ServerExchange): ExecutionStatus {
  if (response === undefined) return "incomplete";
  return response.isError ? "failed" : "completed";
}

/** When a server tool ran, as far as known: Anthropic's results contain no times. */
export interface ToolTiming {
  /** Milliseconds since the epoch. */
  readonly startedAt?: number;
  readonly durationMs?: number;
}

interface TimingFields {
  readonly duration_ms?: number;
  readonly timestamp?: string;
}

/** The latest time that a Date can represent. */
const MAX_DATE_MS = 8.64e15;

/** Omits unknown values, and negative durations, which occur when the clock is set back. */
function toTimingFields({ startedAt, durationMs }: ToolTiming = {}): TimingFields {
  const hasDuration = durationMs !== undefined && Number.isFinite(durationMs) && durationMs >= 0;
  const hasStart = startedAt !== undefined && Math.abs(startedAt) <= MAX_DATE_MS;
  return {
    ...(hasDuration && { duration_ms: durationMs }),
    ...(hasStart && { timestamp: new Date(startedAt).toISOString().replace(".000Z", "Z") }),
  };
}
