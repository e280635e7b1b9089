const encoder = new TextEncoder();

/**
 * Returns at most the first `maxBytes` of the text in UTF-8, cut between characters. If the text is longer, a note
 * about the truncation is appended.
 */
export function truncateText(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= maxBytes) return text;
  const mark = `\n[truncated: ${bytes.length} bytes, the first ${maxBytes} are shown]`;
  const kept = new TextDecoder().decode(bytes.subarray(0, maxBytes)).replace(/\uFFFD+$/u, "");
  return kept + mark;
}
