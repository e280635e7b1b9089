import { Buffer } from "node:buffer";
import { type HistoryBlock } from "../../conversation/history.ts";
import { isRecord, type JsonObject } from "../../lib/json.ts";
import { type MessagePart } from "./message-part.ts";

/** What these types mean is fixed: a block of such a name that does not fit gets a prefix. */
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

/** The part of a block that is no tool's. A type that is not known here passes through as it was stored. */
export function toContentPart(block: HistoryBlock): MessagePart {
  const fields = block.content ?? {};
  switch (block.blockType) {
    case "text":
      return { type: "text", content: block.textContent ?? "" };
    case "thinking":
      return { type: "reasoning", content: block.textContent ?? "" };
    case "redacted_thinking":
      // Its data is encrypted: that the model thought is all there is to tell.
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
