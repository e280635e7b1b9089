import { htmlToText } from "./_html-text.ts";

/** How much of a page the model receives, in UTF-16 code units. */
const MAX_CONTENT = 50_000;
const TEXT_TYPE =
  /^(?:text\/[\w.+-]+|application\/(?:[\w.-]+\+)?(?:json|xml)|application\/(?:x-)?(?:ndjson|yaml|javascript))$/;
const HTML_TYPE = /^(?:text\/html|application\/xhtml\+xml)$/;

/** Returns only the media type, in lower case, or an empty string if the server sends none. */
export function mediaType(header: string | undefined): string {
  return (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

export function isText(type: string): boolean {
  return TEXT_TYPE.test(type);
}

/** Converts bytes of a text type to readable text, truncated to `MAX_CONTENT` characters. */
export function pageText(bytes: Uint8Array, header: string): { readonly content: string; readonly truncated: boolean } {
  const isHtml = HTML_TYPE.test(mediaType(header));
  const decoded = decode(bytes, isHtml ? `${header};${metaCharset(bytes)}` : header);
  const { text, truncated } = isHtml ? htmlToText(decoded) : { text: decoded, truncated: false };
  // PostgreSQL cannot store NUL, which is meaningless to the model.
  const clean = text.replaceAll("\0", "");
  if (clean.length <= MAX_CONTENT) return { content: clean, truncated };
  return { content: clean.slice(0, MAX_CONTENT).replace(/[\uD800-\uDBFF]$/, ""), truncated: true };
}

/**
 * Decodes bytes in the first charset that `parameters` name: that of the header, otherwise the page's own. Decodes
 * UTF-8 if no charset is named or the charset is unknown.
 */
function decode(bytes: Uint8Array, parameters: string): string {
  const label = /charset=["']?([\w:.-]{1,40})/i.exec(parameters)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

function metaCharset(bytes: Uint8Array): string {
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, 1_024));
  return /<meta[^>]{0,200}(charset=["']?[\w:.-]+)/i.exec(start)?.[1] ?? "";
}
