const encoder = new TextEncoder();

/** The text's first `maxBytes` of UTF-8, to a whole character. If there is more, a mark is added that says so. */
export function truncateText(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= maxBytes) return text;
  const mark = `\n[truncated: ${bytes.length} bytes, the first ${maxBytes} are shown]`;
  const kept = new TextDecoder().decode(bytes.subarray(0, maxBytes)).replace(/\uFFFD+$/u, "");
  return kept + mark;
}
