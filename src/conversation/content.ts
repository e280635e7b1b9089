import { asText, isRecord, type JsonObject, type JsonValue } from "../lib/json.ts";

/**
 * A content block for the model, in the API's form: text, image, document, search_result or tool_reference. Images and
 * documents have a `source` that refers to their bytes, `{type: "media", id, media_type, size}`. Blocks never contain
 * the bytes themselves.
 */
export type ContentBlock = JsonObject;

/** The bytes of an image or document, and the id by which blocks refer to them. */
export interface Media {
  readonly id: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** A block's reference to its bytes. */
export interface MediaSource {
  readonly id: string;
  readonly mediaType: string;
  readonly size: number;
}

const TYPES: ReadonlySet<unknown> = new Set(["text", "image", "document", "search_result", "tool_reference"]);

/** Returns a stored result as content blocks, or `undefined` if it is not a list of content blocks. */
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

/** Returns the block's reference to its bytes, or `undefined` if it has none. */
export function mediaOf({ source }: ContentBlock): MediaSource | undefined {
  if (!isRecord(source) || source["type"] !== "media") return undefined;
  const { id, media_type: mediaType, size } = source;
  return { id: asText(id), mediaType: asText(mediaType), size: typeof size === "number" ? size : 0 };
}

/**
 * Returns a result as text, for people and for models that are not shown its images. Each image or document becomes a
 * placeholder, which ends with `about`.
 */
export function contentText(value: JsonValue | undefined, about = ""): string {
  if (value === undefined || typeof value === "string") return value ?? "";
  const blocks = asBlocks(value);
  return blocks ? blocks.map((block) => blockText(block, about)).join("\n") : JSON.stringify(value);
}

/** Returns the placeholder for a block's bytes: `[image/png, 34 kB]`, with the document's title and `about`, if any. */
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

/** The most tokens that an image can have: the API scales down larger images. */
const MAX_IMAGE_TOKENS = 5_000;
/** The most tokens that a document can have: the API accepts up to a hundred pages. */
const MAX_DOCUMENT_TOKENS = 450_000;

/**
 * Returns an upper limit for the tokens of a block's image or document. Each page of a document counts as text and as
 * an image.
 */
export function mediaTokens(block: ContentBlock): number {
  const media = mediaOf(block);
  if (!media) return 0;
  return block["type"] === "image"
    ? MAX_IMAGE_TOKENS
    : Math.min(MAX_IMAGE_TOKENS + 2 * media.size, MAX_DOCUMENT_TOKENS);
}
