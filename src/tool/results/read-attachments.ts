import type { InputAttachment } from "../../conversation/turn-record.ts";
import type { Media } from "../../conversation/content.ts";
import { AppError } from "../../errors/app-error.ts";
import type { JsonObject } from "../../lib/json.ts";
import { isRecord } from "../../lib/json.ts";
import { isPdf } from "./media-type.ts";
import { ContentFault, readContent } from "./read-content.ts";

interface ReadAttachments {
  readonly parts: readonly InputAttachment[];
  readonly media: readonly Media[];
}

/**
 * Returns the attachments of a participant's message that are for the model: `data` is a picture or a PDF, `text` is
 * plain text. An attachment with neither is meant for clients only.
 *
 * @throws {AppError} `malformed` or `too_large`, naming the attachment that cannot be shown
 */
export function readAttachments(given: readonly JsonObject[]): ReadAttachments {
  const shown = given.filter(({ data, text }) => data !== undefined || text !== undefined);
  try {
    const { blocks, media } = readContent(shown.map(toBlock));
    const parts = blocks.map((block, index): InputAttachment => {
      const name = nameOf(shown[index]);
      return { type: "attachment", block, ...(name !== undefined && { name }) };
    });
    return { parts, media };
  } catch (error) {
    if (!(error instanceof ContentFault)) throw error;
    throw new AppError(error.isTooLarge ? "too_large" : "malformed", `user_message.attachments${error.message}`);
  }
}

function toBlock(attachment: JsonObject): unknown {
  const { data, text } = attachment;
  const title = nameOf(attachment);
  const titled = title === undefined ? {} : { title };
  if (data === undefined) return { type: "document", source: { type: "text", data: text }, ...titled };
  // `readContent` checks whether `data` is valid.
  return isDocument(data) ? { type: "document", source: { data }, ...titled } : { type: "image", source: { data } };
}

function isDocument(data: JsonObject[string]): boolean {
  const base64 = isRecord(data) ? data["base64"] : data;
  return typeof base64 === "string" && isPdf(Buffer.from(base64.slice(0, 2_000), "base64"));
}

const MAX_NAME = 200;

function nameOf(attachment: JsonObject | undefined): string | undefined {
  const name = attachment?.["name"];
  return typeof name === "string" && name.trim() !== "" ? name.slice(0, MAX_NAME).toWellFormed() : undefined;
}
