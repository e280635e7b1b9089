import { type HistoryBlock } from "../../conversation/history.ts";
import { type MessagePart } from "./message-part.ts";
import { type Representation } from "./representation.ts";
import { toContentPart } from "./to-content-part.ts";
import { type ServerCall, type ServerResponse, toToolHalf } from "./tool-half.ts";
import {
  type ServerExchange,
  toFunctionPart,
  toServerToolCallPart,
  toServerToolExecutionPart,
  toServerToolPart,
  toToolCallPart,
} from "./tool-parts.ts";
import { type ToolTiming } from "./tool-timing.ts";

export interface RepresentationOptions {
  readonly representation: Representation;
  /** By tool use id; for `server_tool_execution`, which shows times. */
  readonly timings?: ReadonlyMap<string, ToolTiming>;
}

type ServerHalf = ServerCall | ServerResponse;
/** A block on its way: done, or half of a server tool's use, which the representation decides on. */
type Item = { readonly part: MessagePart } | { readonly half: ServerHalf };

/** The GenAI parts of stored blocks, in their order. Nothing is left out, whatever the blocks are. */
export function toMessageParts(blocks: readonly HistoryBlock[], options: RepresentationOptions): MessagePart[] {
  return toPartsByMessage([blocks], options).flat();
}

/**
 * The same for several messages. In Option 3 a response joins its call, also one of an earlier message: a server tool
 * that was called together with a client's tool answers in the next message.
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

/** The part of a pair stands where its call does. */
function mapExchanges(items: Item[][], toPart: (exchange: ServerExchange) => MessagePart): MessagePart[][] {
  const responseOf = pairById(items.flat().flatMap((item) => ("half" in item ? [item.half] : [])));
  const joined = new Set(responseOf.values());
  return mapHalves(items, (half) => {
    if (half.kind === "server_response") return joined.has(half) ? [] : [toPart({ response: half })];
    const response = responseOf.get(half);
    return [toPart(response ? { call: half, response } : { call: half })];
  });
}

/** The first call of an id has its first response; further ones with that id stay alone. */
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
