import type { Anthropic } from "@anthropic-ai/sdk";
import { mediaIn } from "../conversation/block.ts";
import { asBlocks, mediaOf, mediaText, type ContentBlock } from "../conversation/content.ts";
import type { HistoryBlock, HistoryMessage } from "../conversation/history.ts";
import { incrementalFlatMap } from "../lib/incremental-flat-map.ts";
import { asText, type JsonObject, type JsonValue } from "../lib/json.ts";
import { toToolName } from "../protocol/limits.ts";

/** Base64 data of the media that blocks refer to, by id. */
export type MediaData = ReadonlyMap<string, string>;

/**
 * Converts the history to the API's messages. Blocks that the API wrote are sent back unchanged: server results,
 * citations, signatures and unknown types. Blank text and messages without blocks are omitted, because the API would
 * refuse them. Pictures and documents that are no longer stored are replaced by a description.
 */
export function toMessages(
  history: readonly HistoryMessage[],
  media: MediaData = NO_MEDIA,
): readonly Anthropic.MessageParam[] {
  return media === NO_MEDIA ? toMessagesWithoutMedia(history) : history.flatMap((message) => toMessage(message, media));
}

const NO_MEDIA: MediaData = new Map();
const toMessagesWithoutMedia = incrementalFlatMap((message: HistoryMessage) => toMessage(message, NO_MEDIA));

function toMessage(message: HistoryMessage, media: MediaData): readonly Anthropic.MessageParam[] {
  const known = messagesWithoutMedia.get(message);
  if (known) return known;
  const { role, blocks } = message;
  const content = blocks.flatMap((block) => written(block, media) ?? []);
  const made = content.length > 0 ? [{ role, content } as unknown as Anthropic.MessageParam] : [];
  if (!blocks.some((block) => mediaIn(block).length > 0)) messagesWithoutMedia.set(message, made);
  return made;
}

/** Converted messages without media, cached because every request contains them again. */
const messagesWithoutMedia = new WeakMap<HistoryMessage, readonly Anthropic.MessageParam[]>();

/** Converted blocks without media. When a message grows, its earlier blocks are not converted again. */
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

/**
 * Replaces a reference to an image or document with its data, which the API expects in the block. If the data is no
 * longer stored, returns a description instead.
 */
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

/** Strings and lists of content blocks are sent as they are; any other value is sent as its JSON. */
function toResultContent(value: JsonValue, media: MediaData): string | readonly JsonObject[] {
  if (typeof value === "string") return value;
  const blocks = asBlocks(value);
  if (!blocks) return JSON.stringify(sortKeys(value));
  const isSayable = (block: ContentBlock) => block["type"] !== "text" || asText(block["text"]).trim() !== "";
  return blocks.filter(isSayable).map((block) => withBytes(block, media));
}

/**
 * Sorts the keys of every object. JSONB has its own key order. Without sorting, a loaded block would differ from the
 * streamed one, and the prompt cache would miss.
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
