import { isRecord } from "../../lib/json.ts";

/** The tool itself says that it failed; the text is its own. */
export class ToolError extends Error {}

interface ToolAnswer {
  readonly content: readonly unknown[];
  readonly structuredContent?: Record<string, unknown> | null | undefined;
  readonly isError?: boolean | null | undefined;
}

/**
 * What a tool of ours would have returned: the structured content if there is one, else the texts. What is no text is
 * named only: neither a voice nor the record has use for an image's bytes.
 *
 * @throws {ToolError} for a result that is marked as an error
 */
export function toToolValue({ content, structuredContent, isError }: ToolAnswer): unknown {
  const text = content.map(blockText).join("\n");
  if (isError === true) {
    const details = !structuredContent ? "" : JSON.stringify(structuredContent);
    throw new ToolError(text || details || "The tool failed without a message");
  }
  return structuredContent ?? (content.length > 0 ? text : undefined);
}

function blockText(block: unknown): string {
  if (!isRecord(block)) return "[unreadable]";
  const { type, text, data, mimeType, uri, resource } = block;
  if (type === "text" && typeof text === "string") return text;
  if (type === "resource" && isRecord(resource)) return named("resource", resource["uri"], resource["mimeType"]);
  if (type === "resource_link") return named("resource", uri, mimeType);
  const bytes = typeof data === "string" ? `${Buffer.byteLength(data, "base64")} bytes` : undefined;
  return named(typeof type === "string" ? type : "unreadable", mimeType, bytes);
}

function named(kind: string, ...details: readonly unknown[]): string {
  const known = details.filter((detail) => typeof detail === "string").map((detail) => detail.slice(0, 200));
  return `[${[kind, ...known].join(" ")}]`;
}
