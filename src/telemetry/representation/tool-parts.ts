import { type ExecutionStatus, type MessagePart } from "./message-part.ts";
import { type Representation } from "./representation.ts";
import { type FunctionCall, type FunctionResponse, type ServerCall, type ServerResponse } from "./tool-half.ts";
import { toTimingFields, type ToolTiming } from "./tool-timing.ts";

/** A server tool's call with the response of its id, or one of them alone. */
export type ServerExchange =
  | { readonly call: ServerCall; readonly response?: ServerResponse }
  | { readonly call?: undefined; readonly response: ServerResponse };

/**
 * Function tools have the same parts in every representation. Option 1 adds what it asks for: `tool_call` beside the
 * `arguments` that readers of today look for, and a `type` in the response.
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

/** Option 2. */
export function toServerToolCallPart(half: ServerCall | ServerResponse): MessagePart {
  return half.kind === "server_call"
    ? { type: "server_tool_call", ...idOf(half), name: half.name, server_tool_call: half.details }
    : { type: "server_tool_call_response", ...idOf(half), server_tool_call_response: half.details };
}

/** Option 1. */
export function toToolCallPart(half: ServerCall | ServerResponse): MessagePart {
  return half.kind === "server_call"
    ? { type: "tool_call", ...idOf(half), name: half.name, tool_call: half.details }
    : { type: "tool_call_response", ...idOf(half), response: half.details };
}

/** Option 3, first structure. */
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

/** Option 3, second structure. */
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

/** A response says its type only, which is the tool's name for most. */
function nameOf({ call, response }: ServerExchange): string {
  return call === undefined ? response.details.type : call.name;
}

function statusOf({ response }: ServerExchange): ExecutionStatus {
  if (response === undefined) return "incomplete";
  return response.isError ? "failed" : "completed";
}
