/** A glob that says this text and nothing else: what is special in globs is escaped. */
export function literalPattern(text: string): string {
  return text.replaceAll(/[\\*?[\]{}()!+@|]/g, String.raw`\$&`);
}
