import { htmlToText } from "./_html-text.ts";

/** How much of a page the model receives, in UTF-16 code units. */
const MAX_CONTENT = 50_000;
const TEXT_TYPE =
  /^(?:text\/[\w.+-]+|application\/(?:[\w.-]+\+)?(?:json|xml)|application\/(?:x-)?(?:ndjson|yaml|javascript))$/;
const HTML_TYPE = /^(?:text\/html|application\/xhtml\+xml)$/;

/** Returns the media type alone, in lower case, or an empty string if the server sends none. */
export function mediaType(header: string | undefined): string {
  return (header ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

export function isText(type: string): boolean {
  return TEXT_TYPE.test(type);
}

/** Returns bytes of a text type as readable text, cut to `MAX_CONTENT` characters. */
export function pageText(bytes: Uint8Array, header: string): { readonly content: string; readonly truncated: boolean } {
  const isHtml = HTML_TYPE.test(mediaType(header));
  const decoded = decode(bytes, isHtml ? `${header};${metaCharset(bytes)}` : header);
  const { text, truncated } = isHtml ? htmlToText(decoded) : { text: decoded, truncated: false };
  // NUL cannot be stored in PostgreSQL, and means nothing to the model.
  const clean = text.replaceAll("\0", "");
  if (clean.length <= MAX_CONTENT) return { content: clean, truncated };
  return { content: clean.slice(0, MAX_CONTENT).replace(/[\uD800-\uDBFF]$/, ""), truncated: true };
}

/** The first charset named wins: the header's, then the page's own. Bytes in an unknown one are decoded as UTF-8. */
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
