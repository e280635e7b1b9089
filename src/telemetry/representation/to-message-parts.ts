import { Buffer } from "node:buffer";
import type { HistoryBlock } from "../../conversation/history.ts";
import { type JsonObject, isRecord } from "../../lib/json.ts";
import type { MessagePart } from "./message-part.ts";
import type { Representation } from "./representation.ts";
import { type ServerCall, type ServerResponse, toToolHalf } from "./tool-half.ts";
import {
  type ServerExchange,
  type ToolTiming,
  toFunctionPart,
  toServerToolCallPart,
  toServerToolExecutionPart,
  toServerToolPart,
  toToolCallPart,
} from "./tool-parts.ts";

export interface RepresentationOptions {
  readonly representation: Representation;
  /** By tool use id. Used only by `server_tool_execution`, the only representation with times. */
  readonly timings?: ReadonlyMap<string, ToolTiming>;
}

type ServerHalf = ServerCall | ServerResponse;
/** A finished part, or a server tool's call or response that still has to be converted to a part. */
type Item = { readonly part: MessagePart } | { readonly half: ServerHalf };

/** Converts all stored blocks to GenAI parts, in order. In Option 3, a response joins its call. */
export function toMessageParts(blocks: readonly HistoryBlock[], options: RepresentationOptions): MessagePart[] {
  return toPartsByMessage([blocks], options).flat();
}

/**
 * Like `toMessageParts`, for several messages. In Option 3, a response joins its call even in an earlier message: a
 * server tool that was called together with a client tool responds in the next message.
 */
export function toPartsByMessage(
  messages: readonly (readonly HistoryBlock[])[],
  options: RepresentationOptions,
): MessagePart[][] {
  const items = messages.map((blocks) => blocks.map((block) => toItem(block, options.representation)));
  switch (options.representation) {
    case "server_tool_call":
      return mapHalves(items, (half) => [toServerToolCallPart(half)]);
    case "tool_call":
      return mapHalves(items, (half) => [toToolCallPart(half)]);
    case "server_tool":
      return mapExchanges(items, toServerToolPart);
    case "server_tool_execution":
      return mapExchanges(items, (exchange) => {
        const id = (exchange.call ?? exchange.response).id;
        return toServerToolExecutionPart(exchange, id === undefined ? undefined : options.timings?.get(id));
      });
  }
}

function toItem(block: HistoryBlock, representation: Representation): Item {
  const half = toToolHalf(block);
  if (half === undefined) return { part: toContentPart(block) };
  return half.kind === "server_call" || half.kind === "server_response"
    ? { half }
    : { part: toFunctionPart(half, representation) };
}

function mapHalves(items: Item[][], toParts: (half: ServerHalf) => MessagePart[]): MessagePart[][] {
  return items.map((message) => message.flatMap((item) => ("part" in item ? [item.part] : toParts(item.half))));
}

/** Converts each call and response to one part, in the position of the call. */
function mapExchanges(items: Item[][], toPart: (exchange: ServerExchange) => MessagePart): MessagePart[][] {
  const responseOf = pairById(items.flat().flatMap((item) => ("half" in item ? [item.half] : [])));
  const joined = new Set(responseOf.values());
  return mapHalves(items, (half) => {
    if (half.kind === "server_response") return joined.has(half) ? [] : [toPart({ response: half })];
    const response = responseOf.get(half);
    return [toPart(response ? { call: half, response } : { call: half })];
  });
}

/**
 * For each id, pairs the first call with the first response. Further calls and responses with that id stay unpaired.
 */
function pairById(halves: readonly ServerHalf[]): ReadonlyMap<ServerCall, ServerResponse> {
  const responses = new Map<string, ServerResponse>();
  for (const half of halves) {
    if (half.kind === "server_response" && half.id !== undefined && !responses.has(half.id)) {
      responses.set(half.id, half);
    }
  }
  const pairs = new Map<ServerCall, ServerResponse>();
  for (const half of halves) {
    const response = half.kind === "server_call" && half.id !== undefined ? responses.get(half.id) : undefined;
    if (half.kind !== "server_call" || response === undefined) continue;
    pairs.set(half, response);
    responses.delete(response.id ?? "");
  }
  return pairs;
}

/**
 * Part types with a fixed meaning. If a block has one of these types but a different meaning, its type gets a prefix.
 */
const FIXED_TYPES: ReadonlySet<string> = new Set([
  "text",
  "reasoning",
  "blob",
  "file",
  "uri",
  "compaction",
  "tool_call",
  "tool_call_response",
  "server_tool_call",
  "server_tool_call_response",
  "server_tool",
  "server_tool_execution",
]);

/**
 * Returns the part of a block that does not belong to a tool. A block of an unknown type is returned as it was stored.
 */
export function toContentPart(block: HistoryBlock): MessagePart {
  const fields = block.content ?? {};
  switch (block.blockType) {
    case "text":
      return { type: "text", content: block.textContent ?? "" };
    case "thinking":
      return { type: "reasoning", content: block.textContent ?? "" };
    case "redacted_thinking":
      // The data is encrypted, so the part only shows that the model was thinking.
      return { type: "reasoning", content: "", redacted: true };
    case "compaction":
      return { type: "compaction", ...text("content", fields["content"]) };
    case "container_upload":
      return toFile(fields["file_id"], "document") ?? toGenericPart(block);
    case "image":
    case "document":
      return toMedia(fields["source"], block.blockType) ?? toGenericPart(block);
    default:
      return toGenericPart(block);
  }
}

function toMedia(source: unknown, modality: string): MessagePart | undefined {
  if (!isRecord(source)) return undefined;
  const mimeType = text("mime_type", source["media_type"]);
  const { data, url } = source;
  switch (source["type"]) {
    case "base64":
      return typeof data === "string" ? { type: "blob", modality, ...mimeType, content: data } : undefined;
    case "text":
      return typeof data === "string"
        ? { type: "blob", modality, ...mimeType, content: Buffer.from(data).toString("base64") }
        : undefined;
    case "url":
      return typeof url === "string" ? { type: "uri", modality, uri: url } : undefined;
    case "file":
      return toFile(source["file_id"], modality);
    // Bytes that the worker stores, which telemetry never contains.
    case "media":
      return typeof source["id"] === "string"
        ? { type: "file", modality, ...mimeType, file_id: source["id"] }
        : undefined;
    default:
      return undefined;
  }
}

function toFile(id: unknown, modality: string): MessagePart | undefined {
  return typeof id === "string" ? { type: "file", modality, file_id: id } : undefined;
}

function toGenericPart({ blockType, textContent, content }: HistoryBlock): MessagePart {
  const type = FIXED_TYPES.has(blockType) ? `anthropic.${blockType}` : blockType;
  return { ...content, ...text("content", textContent), type };
}

function text(name: string, value: unknown): JsonObject {
  return typeof value === "string" ? { [name]: value } : {};
}
