import { cleanText, parseExactJson } from "../lib/clean-json.ts";
import { asText, isRecord, type JsonObject, setOwn } from "../lib/json.ts";
import type { BlockDelta } from "./model-event.ts";

/** A block that is being streamed. `raw` is the API's block with the deltas applied so far. */
export interface OpenBlock {
  readonly type: string;
  readonly raw: Record<string, unknown>;
  /** Received pieces of `input`. They are joined and parsed once, at the end. */
  readonly inputPieces: string[];
}

/** A block with all its deltas applied. */
export interface WholeBlock {
  readonly raw: Record<string, unknown>;
  readonly inputError?: string;
}

/**
 * Block types with fixed fields. Deltas of unknown types are not applied to them, because the API would refuse a block
 * with unknown fields in the history.
 */
const FIXED_TYPES = new Set(["text", "thinking", "redacted_thinking", "tool_use", "server_tool_use"]);

export function openBlock(start: Record<string, unknown>): OpenBlock {
  const type = typeof start["type"] === "string" ? start["type"] : "unknown";
  return { type, raw: { ...start, type }, inputPieces: [] };
}

/**
 * Applies a delta to its block. Ignores a known delta that does not fit the block's type, and returns `other` for it.
 */
export function applyDelta(block: OpenBlock, delta: Record<string, unknown>): BlockDelta {
  const { raw } = block;
  switch (delta["type"]) {
    case "text_delta":
      if (block.type !== "text" || typeof delta["text"] !== "string") return OTHER;
      raw["text"] = asText(raw["text"]) + delta["text"];
      return { type: "text", text: delta["text"] };
    case "thinking_delta":
      if (block.type !== "thinking" || typeof delta["thinking"] !== "string") return OTHER;
      raw["thinking"] = asText(raw["thinking"]) + delta["thinking"];
      return { type: "thinking", text: delta["thinking"] };
    case "input_json_delta":
      if (typeof delta["partial_json"] !== "string") return OTHER;
      block.inputPieces.push(delta["partial_json"]);
      return { type: "input_json", partialJson: delta["partial_json"] };
    case "signature_delta":
      if (block.type === "thinking") raw["signature"] = delta["signature"];
      return OTHER;
    case "citations_delta":
      if (block.type === "text") append(raw, "citations", [delta["citation"]]);
      return OTHER;
    default:
      if (!FIXED_TYPES.has(block.type)) mergeDelta(raw, delta);
      return OTHER;
  }
}

/**
 * Closes a block. With `isCut`, the block's end never arrived, so its arguments count as cut off and cannot be used.
 */
export function closeBlock({ type, raw, inputPieces }: OpenBlock, isCut = false): WholeBlock {
  const text = inputPieces.join("");
  const takesInput = type === "tool_use" || type === "server_tool_use" || inputPieces.length > 0;
  if (!takesInput) return { raw };
  const parsed = text === "" ? { input: isRecord(raw["input"]) ? raw["input"] : {} } : parseInput(text);
  const unread = { ...raw, input: { _raw: cleanText(text) } };
  if (isCut) return { raw: unread, inputError: "The arguments were cut off" };
  if (parsed.input === undefined) return { raw: unread, inputError: parsed.error };
  return { raw: { ...raw, input: parsed.input } };
}

const OTHER: BlockDelta = { type: "other" };

type ParsedInput =
  | { readonly input: object; readonly error?: never }
  | { readonly input?: never; readonly error: string };

/**
 * Parses the arguments of a tool use. If they are not valid JSON, or a receiver might not see them exactly as the model
 * wrote them, returns an error that says what is wrong and where. A syntax error contains only a position, because the
 * parser's own message quotes the arguments.
 */
function parseInput(text: string): ParsedInput {
  try {
    const read = parseExactJson(text, "input");
    return "fault" in read ? { error: `Invalid parameters: ${read.fault}` } : { input: read.value };
  } catch (error) {
    const position = /at position (\d+)/.exec(String(error))?.[1];
    return { error: `The arguments are not valid JSON${position === undefined ? "" : ` (at position ${position})`}` };
  }
}

/** Merges a delta of an unknown type like the known ones: strings and lists are appended, anything else is replaced. */
function mergeDelta(raw: Record<string, unknown>, delta: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(delta)) {
    const before = raw[key];
    if (key === "type") continue;
    if (typeof value === "string" && typeof before === "string") raw[key] = before + value;
    else if (Array.isArray(value) && Array.isArray(before)) append(raw, key, value);
    else setOwn(raw, key, value);
  }
}

/** Appends in place, because copying the list for each delta would take quadratic time. */
function append(raw: Record<string, unknown>, key: string, items: readonly unknown[]): void {
  const list = raw[key];
  if (Array.isArray(list)) for (const item of items) list.push(item);
  else raw[key] = [...items];
}

/** Only casts: the block was parsed from the API's JSON. */
export function asJson(value: Record<string, unknown>): JsonObject {
  return value as JsonObject;
}
