/** A JSON object as sent over the wire. */
export type Json = Record<string, unknown>;

/** A content block to stream: its start and the deltas that follow. */
export type StepBlock =
  | { readonly kind: "text"; readonly text: string; readonly citations: readonly Json[] }
  | { readonly kind: "thinking"; readonly text: string }
  | { readonly kind: "tool_use"; readonly name: string; readonly json: string; readonly id: string | undefined }
  | { readonly kind: "raw"; readonly start: Json; readonly deltas: readonly Json[] };

export const text = (content: string, ...citations: Json[]): StepBlock => ({ kind: "text", text: content, citations });

/** A thinking block. The server signs it, and later checks the signature. */
export const thinking = (content: string): StepBlock => ({ kind: "thinking", text: content });

export const redactedThinking = (data: string): StepBlock => rawBlock({ type: "redacted_thinking", data });

/** A tool call. Without `id`, the server generates an id. */
export const toolUse = (name: string, input: Json = {}, id?: string): StepBlock =>
  malformedToolJson(name, JSON.stringify(input), id);

/** A tool call whose arguments are sent exactly as written in `json`; `""` sends no delta at all. */
export const malformedToolJson = (name: string, json: string, id?: string): StepBlock => ({
  kind: "tool_use",
  name,
  json,
  id,
});

export const serverToolUse = (name: string, input: Json, id: string): StepBlock =>
  rawBlock(
    { type: "server_tool_use", id, name, input: {}, caller: { type: "direct" } },
    ...jsonDeltas(JSON.stringify(input), 20),
  );

/** A server tool's result. Like the API, sends it complete in its start event, without deltas. */
export const serverToolResult = (type: string, toolUseId: string, content: unknown): StepBlock =>
  rawBlock({ type, tool_use_id: toolUseId, content });

export const rawBlock = (start: Json, ...deltas: Json[]): StepBlock => ({ kind: "raw", start, deltas });

export const unknownBlock = (fields: Json = {}, ...deltas: Json[]): StepBlock =>
  rawBlock({ type: "future_block", ...fields }, ...deltas);

/** How the stream fails once `after` events have been written (message_start is the first). */
export interface Fault {
  readonly kind: "stall" | "pings_only" | "end" | "destroy" | "error";
  readonly after: number;
  readonly errorType?: string;
}

export const stallAfter = (after: number): Fault => ({ kind: "stall", after });
/** After the given number of events, sends only pings, one every 10 ms. */
export const pingsOnly = (after: number): Fault => ({ kind: "pings_only", after });
/** Ends the body cleanly, before message_stop. */
export const endWithoutStop = (after: number): Fault => ({ kind: "end", after });
export const destroySocket = (after: number): Fault => ({ kind: "destroy", after });
export const sseError = (after: number, errorType = "overloaded_error"): Fault => ({ kind: "error", after, errorType });

export interface ReplyOptions {
  /** @defaultValue "tool_use" if a block is a tool call, otherwise "end_turn" */
  readonly stopReason?: string;
  readonly stopDetails?: Json;
  readonly container?: Json;
  /** Characters per delta. @defaultValue 20 */
  readonly chunking?: number;
  /** Milliseconds before the first event. @defaultValue 0 */
  readonly afterMs?: number;
  /** Milliseconds before each event. @defaultValue 0 */
  readonly slow?: number;
  readonly fault?: Fault;
  /** Additional events, each inserted at its position. */
  readonly insert?: readonly { readonly at: number; readonly event: Json }[];
}

export const unknownEvent = (at: number, fields: Json = {}) => ({ at, event: { type: "future_event", ...fields } });

/** Returns options that delay each event. */
export const slow = (msPerEvent: number): ReplyOptions => ({ slow: msPerEvent });

/** How the server answers one request. */
export type Step =
  | { readonly kind: "reply"; readonly blocks: readonly StepBlock[]; readonly options: ReplyOptions }
  | { readonly kind: "recorded"; readonly events: readonly Json[]; readonly options: ReplyOptions }
  | {
      readonly kind: "http_error";
      readonly status: number;
      readonly errorType: string;
      readonly headers: Record<string, string>;
      readonly message: string;
    }
  | { readonly kind: "no_headers" };

export const reply = (blocks: readonly StepBlock[], options: ReplyOptions = {}): Step => ({
  kind: "reply",
  blocks,
  options,
});

/** Replays a recorded stream, event by event. */
export const recorded = (events: readonly Json[], options: ReplyOptions = {}): Step => ({
  kind: "recorded",
  events,
  options,
});

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** @param type defaults to the error type of the status */
export function httpError(status: number, type?: string, headers: Record<string, string> = {}): Step {
  const errorType = type ?? ERROR_TYPES[status] ?? "api_error";
  return { kind: "http_error", status, errorType, headers, message: `Scripted ${errorType}` };
}

/** Accepts the request but never answers it. */
export const noHeaders = (): Step => ({ kind: "no_headers" });

/** Returns input_json_delta events for a string, cut into pieces. */
export function jsonDeltas(json: string, chunking: number): Json[] {
  return pieces(json, chunking).map((partial_json) => ({ type: "input_json_delta", partial_json }));
}

/** Cuts a string into pieces, never inside a surrogate pair. */
export function pieces(content: string, chunking: number): string[] {
  return content.match(new RegExp(`[^]{1,${chunking}}`, "gu")) ?? [];
}
