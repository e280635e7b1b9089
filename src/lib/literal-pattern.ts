/** A rule's pattern that says this text and nothing else. */
export function literalPattern(text: string): string {
  return text.replaceAll(/[\\*?]/g, String.raw`\$&`);
}
