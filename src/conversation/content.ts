import { asText, isRecord, type JsonObject, type JsonValue } from "../lib/json.ts";

/**
 * A content block for the model, in the API's form: text, image, document or search_result. Pictures and documents have
 * a `source` that names their bytes, `{type: "media", id, media_type, size}`: the bytes themselves are in no block.
 */
export type ContentBlock = JsonObject;

/** The bytes of a picture or a document, under the id by which blocks name them. */
export interface Media {
  readonly id: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** What a block tells of its bytes. */
export interface MediaSource {
  readonly id: string;
  readonly mediaType: string;
  readonly size: number;
}

const TYPES: ReadonlySet<unknown> = new Set(["text", "image", "document", "search_result", "tool_reference"]);

/** A stored result that is a list of content blocks; `undefined` for any other. */
export function asBlocks(value: JsonValue | undefined): readonly ContentBlock[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const list: readonly JsonValue[] = value;
  return list.every((item) => isRecord(item) && TYPES.has(item["type"]))
    ? (list as readonly ContentBlock[])
    : undefined;
}

export function mediaSource({ id, mediaType, bytes }: Media): JsonObject {
  return { type: "media", id, media_type: mediaType, size: bytes.length };
}

/** The bytes that a block names; `undefined` where it names none. */
export function mediaOf({ source }: ContentBlock): MediaSource | undefined {
  if (!isRecord(source) || source["type"] !== "media") return undefined;
  const { id, media_type: mediaType, size } = source;
  return { id: asText(id), mediaType: asText(mediaType), size: typeof size === "number" ? size : 0 };
}

/** A result in words, for people and for a model that is not shown its pictures. */
export function contentText(value: JsonValue | undefined, about = ""): string {
  if (value === undefined || typeof value === "string") return value ?? "";
  const blocks = asBlocks(value);
  return blocks ? blocks.map((block) => blockText(block, about)).join("\n") : JSON.stringify(value);
}

/** What stands for a block's bytes: `[image/png, 34 kB]`, with the document's title, and with what is to be said of it. */
export function mediaText(block: ContentBlock, about = ""): string {
  const { mediaType = "", size = 0 } = mediaOf(block) ?? {};
  const title = asText(block["title"]);
  const named = title === "" ? [] : [JSON.stringify(title)];
  return `[${[mediaType, ...named, `${Math.max(1, Math.round(size / 1_000))} kB`].join(", ")}${about}]`;
}

function blockText(block: ContentBlock, about: string): string {
  const { type, text, title, source, content } = block;
  if (mediaOf(block)) return mediaText(block, about);
  if (type === "text") return asText(text);
  if (type === "document") return [asText(title), isRecord(source) ? asText(source["data"]) : ""].join("\n").trim();
  if (type !== "search_result") return JSON.stringify(block);
  return [`${asText(title)} (${asText(source)})`, contentText(content)].join("\n");
}

/** The API scales larger pictures down to what has fewer tokens. */
const MAX_IMAGE_TOKENS = 5_000;
/** Of a hundred pages, the most that the API takes. */
const MAX_DOCUMENT_TOKENS = 450_000;

/** How many tokens a block's bytes have at most. Each page of a document counts as text and as a picture. */
export function mediaTokens(block: ContentBlock): number {
  const media = mediaOf(block);
  if (!media) return 0;
  return block["type"] === "image"
    ? MAX_IMAGE_TOKENS
    : Math.min(MAX_IMAGE_TOKENS + 2 * media.size, MAX_DOCUMENT_TOKENS);
}
