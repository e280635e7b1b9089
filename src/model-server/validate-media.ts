import { isRecord } from "../lib/json.ts";
import { listOf } from "./message.ts";
import type { Json } from "./step.ts";

const MAX_IMAGE_BASE64 = 5 * 1024 * 1024;
/** The first bytes of each type, in base64. */
const BEGINNINGS: readonly (readonly [string, RegExp])[] = [
  ["image/png", /^iVBORw0KGg/u],
  ["image/jpeg", /^\/9j\//u],
  ["image/gif", /^R0lGOD/u],
  ["image/webp", /^UklGR/u],
  ["application/pdf", /^JVBERi/u],
];
const RESULT_TYPES = ["text", "image", "document", "search_result", "tool_reference"];

/** Yields violations of the rules for pictures, documents and search results, in the API's words. */
export function* validateMedia(block: Json, path: string): Generator<string> {
  const { type } = block;
  if (type === "tool_result") yield* validateResult(block, path);
  if (type === "search_result") {
    const texts = listOf(block["content"]);
    if (typeof block["source"] !== "string" || typeof block["title"] !== "string")
      yield `${path}.search_result.source: Input should be a valid string`;
    if (texts.length === 0) yield `${path}.search_result.content: List should have at least 1 item`;
    for (const part of texts) yield* validateText(part, `${path}.search_result`);
  }
  if (type !== "image" && type !== "document") return;
  const source = isRecord(block["source"]) ? block["source"] : {};
  const { media_type: claimed, data } = source;
  if (type === "document" && source["type"] === "text") {
    if (claimed !== "text/plain") yield `${path}.document.source.text.media_type: Input should be 'text/plain'`;
    if (typeof data !== "string" || data.trim() === "") yield `${path}.document.source.text.data: text cannot be empty`;
    return;
  }
  const where = `${path}.${type}.source`;
  if (source["type"] !== "base64" || typeof data !== "string")
    return yield `${where}: Input tag '${String(source["type"])}' found using 'type' does not match any of the expected tags: 'base64', 'file', 'url'`;
  const [found = "unknown"] = BEGINNINGS.find(([, beginning]) => beginning.test(data)) ?? [];
  if (type === "document" && (claimed !== "application/pdf" || found !== claimed))
    yield `${where}.base64.data: The PDF specified was not valid.`;
  if (type === "image" && (claimed !== found || found === "application/pdf"))
    yield `${where}.base64.data: Image does not match the provided media type ${String(claimed)}`;
  if (type === "image" && data.length > MAX_IMAGE_BASE64)
    yield `${where}.base64: image exceeds 5 MB maximum: ${data.length} bytes > ${MAX_IMAGE_BASE64} bytes`;
}

function* validateResult(block: Json, path: string): Generator<string> {
  const parts = typeof block["content"] === "string" ? [] : listOf(block["content"]);
  for (const [index, part] of parts.entries()) {
    const type = String(part["type"]);
    if (!RESULT_TYPES.includes(type))
      yield `${path}.tool_result.content.${index}: Input tag '${type}' found using 'type' does not match any of the expected tags`;
    if (block["is_error"] === true && type !== "text")
      yield `${path}.tool_result: all content must be type "text" if \`is_error\` is true`;
    yield* validateText(part, `${path}.tool_result`);
    if (type !== "tool_result") yield* validateMedia(part, `${path}.tool_result.content.${index}`);
  }
}

function* validateText({ type, text }: Json, path: string): Generator<string> {
  if (type === "text" && String(text).trim() === "") yield `${path}: text content blocks must be non-empty`;
}
