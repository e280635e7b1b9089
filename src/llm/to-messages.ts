import type { Anthropic } from "@anthropic-ai/sdk";
import { mediaIn } from "../conversation/block.ts";
import { asBlocks, mediaOf, mediaText, type ContentBlock } from "../conversation/content.ts";
import type { HistoryBlock, HistoryMessage } from "../conversation/history.ts";
import { flatMapGrowing } from "../lib/flat-map-growing.ts";
import { asText, type JsonObject, type JsonValue } from "../lib/json.ts";
import { toToolName } from "../protocol/limits.ts";

/** The bytes that blocks name, in base64, by their id. */
export type MediaData = ReadonlyMap<string, string>;

/**
 * The history as the API's messages. Blocks that the API wrote come out as it wrote them: server results, citations,
 * signatures and unknown types. What the API would refuse is left out: blank text, and messages without blocks.
 * Pictures and documents whose bytes are gone are described in words.
 */
export function toMessages(
  history: readonly HistoryMessage[],
  media: MediaData = NO_MEDIA,
): readonly Anthropic.MessageParam[] {
  return media === NO_MEDIA ? toMessagesWithoutMedia(history) : history.flatMap((message) => toMessage(message, media));
}

const NO_MEDIA: MediaData = new Map();
const toMessagesWithoutMedia = flatMapGrowing((message: HistoryMessage) => toMessage(message, NO_MEDIA));

function toMessage(message: HistoryMessage, media: MediaData): readonly Anthropic.MessageParam[] {
  const known = messagesWithoutMedia.get(message);
  if (known) return known;
  const { role, blocks } = message;
  const content = blocks.flatMap((block) => written(block, media) ?? []);
  const made = content.length > 0 ? [{ role, content } as unknown as Anthropic.MessageParam] : [];
  if (!blocks.some((block) => mediaIn(block).length > 0)) messagesWithoutMedia.set(message, made);
  return made;
}

/** Messages without media in the API's form. They are kept because the same ones are sent with every request. */
const messagesWithoutMedia = new WeakMap<HistoryMessage, readonly Anthropic.MessageParam[]>();

/** Written blocks without media, by block: when a message grows, those that it had before are not written again. */
const withoutMedia = new WeakMap<HistoryBlock, JsonObject>();

function written(block: HistoryBlock, media: MediaData): JsonObject | undefined {
  const known = withoutMedia.get(block);
  if (known) return known;
  const made = toApiBlock(block, media);
  const sorted = made && sortKeys(made);
  if (sorted && mediaIn(block).length === 0) withoutMedia.set(block, sorted);
  return sorted;
}

function toApiBlock({ blockType, textContent, content }: HistoryBlock, media: MediaData): JsonObject | undefined {
  const fields = content ?? {};
  switch (blockType) {
    case "text":
      return textContent === null || textContent.trim() === ""
        ? undefined
        : { type: "text", text: textContent, ...fields };
    case "thinking":
      return { type: "thinking", thinking: textContent ?? "", signature: fields["signature"] ?? "" };
    case "redacted_thinking":
      return { type: "redacted_thinking", data: fields["data"] ?? "" };
    case "tool_use":
    case "server_tool_use": {
      const { tool_use_id: id = "", tool_name: name = "", input = {}, ...rest } = fields;
      // The model may write a tool name that the API refuses in the history.
      return { type: blockType, id, name: toToolName(asText(name)), input, ...rest };
    }
    case "tool_result":
      return toToolResult(fields, media);
    case "image":
    case "document":
      return withBytes({ ...fields, type: blockType }, media);
    case "server_tool_result":
    default:
      return { ...fields, type: fields["type"] ?? blockType };
  }
}

/** The block as the API takes it. */
function withBytes(block: ContentBlock, media: MediaData): ContentBlock {
  const named = mediaOf(block);
  if (!named) return block;
  const data = media.get(named.id);
  if (data === undefined) return { type: "text", text: mediaText(block, ", no longer stored") };
  return { ...block, source: { type: "base64", media_type: named.mediaType, data } };
}

function toToolResult(fields: JsonObject, media: MediaData): JsonObject {
  const isError = fields["is_error"] === true;
  const content = toResultContent(fields["content"] ?? "", media);
  return {
    type: "tool_result",
    tool_use_id: fields["tool_use_id"] ?? "",
    // The API refuses an error without content.
    content: isError && content.length === 0 ? "The tool failed without a message." : content,
    ...(isError && { is_error: true }),
  };
}

/** A string and a list of content blocks go as they are; any other value goes as its JSON. */
function toResultContent(value: JsonValue, media: MediaData): string | readonly JsonObject[] {
  if (typeof value === "string") return value;
  const blocks = asBlocks(value);
  if (!blocks) return JSON.stringify(sortKeys(value));
  const isSayable = (block: ContentBlock) => block["type"] !== "text" || asText(block["text"]).trim() !== "";
  return blocks.filter(isSayable).map((block) => withBytes(block, media));
}

/**
 * The same value with the keys of every object sorted. JSONB stores keys in an order of its own, so without this a
 * loaded block would be written differently from a streamed one, and the prompt cache would miss it.
 */
function sortKeys(value: JsonObject): JsonObject;
function sortKeys(value: JsonValue): JsonValue;
function sortKeys(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map((item) => sortKeys(item));
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sortKeys(value[key] ?? null)]));
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}
