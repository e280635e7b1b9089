import { z } from "zod";
import { mediaSource, type ContentBlock, type Media } from "../../conversation/content.ts";
import { cleanJson } from "../../lib/clean-json.ts";
import { createId } from "../../lib/id.ts";
import { asText, isRecord } from "../../lib/json.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { mediaTypeOf } from "./media-type.ts";

/** Why content cannot be used. Callers put the name of the field in front of the message. */
export class ContentFault extends Error {
  readonly isTooLarge: boolean;

  constructor(message: string, { isTooLarge = false } = {}) {
    super(message);
    this.isTooLarge = isTooLarge;
  }
}

const words = z.string().refine((text) => text.trim() !== "", "expected some text");
const text = z.strictObject({ type: z.literal("text"), text: words });
const bytes = z.strictObject({
  type: z.literal("base64").optional(),
  media_type: z.string().optional(),
  // `cleanJson` turns bytes into this object.
  data: z.union([z.string(), z.strictObject({ base64: z.string() })]),
});
const plainText = z.strictObject({
  type: z.literal("text"),
  media_type: z.literal("text/plain").default("text/plain"),
  data: words,
});
const title = words.max(500).optional();
const block = z.discriminatedUnion("type", [
  text,
  z.strictObject({ type: z.literal("image"), source: bytes }),
  z.strictObject({
    type: z.literal("document"),
    source: z.union([plainText, bytes]),
    title,
    context: words.max(2_000).optional(),
  }),
  z.strictObject({
    type: z.literal("search_result"),
    source: words.max(2_000),
    title: words.max(500),
    content: z.array(text).min(1).max(LIMITS.contentBlocks),
  }),
]);

/** Content as it is stored, and the media that it refers to. */
export interface ReadContent {
  readonly blocks: readonly ContentBlock[];
  readonly media: readonly Media[];
}

/**
 * Checks content that a tool or a participant shows to the model, and extracts the bytes of its media. Links are
 * rejected: the API would fetch them, and fail the whole turn if it could not.
 *
 * @throws {ContentFault} beginning with the place of the invalid block
 */
export function readContent(given: unknown): ReadContent {
  if (!Array.isArray(given)) throw new ContentFault(": expected a list of content blocks");
  if (given.length > LIMITS.contentBlocks)
    throw new ContentFault(`: expected at most ${LIMITS.contentBlocks} content blocks, got ${given.length}`, {
      isTooLarge: true,
    });
  const media: Media[] = [];
  const blocks = given.map((item, index) => {
    try {
      return readBlock(cleanJson(item), media);
    } catch (error) {
      if (!(error instanceof ContentFault)) throw error;
      throw new ContentFault(`[${index}]${error.message}`, { isTooLarge: error.isTooLarge });
    }
  });
  const written = blocks.reduce((sum, each) => sum + writtenLength(each), 0);
  if (written > LIMITS.resultCharacters)
    throw new ContentFault(`: over ${LIMITS.resultCharacters} characters of text`, { isTooLarge: true });
  const total = media.reduce((sum, each) => sum + each.bytes.length, 0);
  if (total <= LIMITS.contentBytes) return { blocks, media };
  throw new ContentFault(`: expected at most ${LIMITS.contentBytes} bytes in total, got ${total}`, {
    isTooLarge: true,
  });
}

/** Returns the total length of the texts in the block, without its short fields (title, source, context). */
function writtenLength({ text = "", source, content }: ContentBlock): number {
  const data = isRecord(source) && source["type"] === "text" ? source["data"] : "";
  const inner = Array.isArray(content) ? (content as readonly ContentBlock[]) : [];
  return asText(text).length + asText(data).length + inner.reduce((sum, each) => sum + writtenLength(each), 0);
}

function readBlock(value: unknown, media: Media[]): ContentBlock {
  const parsed = block.safeParse(value);
  if (!parsed.success) throw new ContentFault(firstIssue(parsed.error.issues));
  const { data } = parsed;
  if (data.type === "text" || data.type === "search_result" || data.source.type === "text") return withoutAbsent(data);
  const one = readMedia(data.type, data.source.data);
  media.push(one);
  return withoutAbsent({ ...data, source: mediaSource(one) });
}

function readMedia(kind: "image" | "document", data: string | { readonly base64: string }): Media {
  const read = Buffer.from(typeof data === "string" ? data : data.base64, "base64");
  if (read.length > LIMITS.mediaBytes) {
    const message = `.source: expected at most ${LIMITS.mediaBytes} bytes, got ${read.length}`;
    throw new ContentFault(message, { isTooLarge: true });
  }
  const type = mediaTypeOf(read);
  if ("fault" in type) throw new ContentFault(`.source: ${type.fault}`);
  if (type.kind !== kind) throw new ContentFault(`.type: expected "${type.kind}" for ${type.mediaType}`);
  return { id: createId(), mediaType: type.mediaType, bytes: read };
}

/** Returns the place of the first issue and what was expected there. Omits the value, which may be of any size. */
function firstIssue(issues: readonly z.core.$ZodIssue[]): string {
  const [issue] = issues;
  // Reports the last alternative. For a document's source, that is the bytes.
  if (issue?.code === "invalid_union" && issue.errors.length > 0) {
    const inner = firstIssue(issue.errors.at(-1) ?? []);
    return issue.path.map((key) => `.${String(key)}`).join("") + inner;
  }
  const place = (issue?.path ?? []).map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  return `${place}: ${issue?.message.replace(/, received .*$/u, "") ?? "reading the value failed"}`;
}

function withoutAbsent(fields: Readonly<Record<string, unknown>>): ContentBlock {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as ContentBlock;
}
