/** A pattern with the flag g, and the replacement for its matches. */
export type Rule = readonly [RegExp, string | ((match: RegExpExecArray) => string)];

/** A text that is rewritten step by step. For each character, it tracks the original character that it came from. */
export class TracedText {
  text: string;
  /** For each UTF-16 unit of `text`, its index in the original text. */
  origins: number[];

  constructor(text: string, firstIndex = 0) {
    this.text = text;
    this.origins = Array.from({ length: text.length }, (_, index) => firstIndex + index);
  }

  replace([pattern, rewrite]: Rule): void {
    const matches = [...this.text.matchAll(pattern)];
    if (matches.length === 0) return;
    const origins: number[] = [];
    let text = "";
    let end = 0;
    for (const match of matches) {
      const [old] = match;
      const written = typeof rewrite === "string" ? rewrite : rewrite(match);
      text += this.text.slice(end, match.index) + written;
      origins.push(...this.origins.slice(end, match.index));
      end = match.index + old.length;
      origins.push(...this.#originsOf(written, { old, index: match.index }));
    }
    this.text = text + this.text.slice(end);
    this.origins = [...origins, ...this.origins.slice(end)];
  }

  trim(): void {
    const start = this.text.length - this.text.trimStart().length;
    this.text = this.text.trim();
    this.origins = this.origins.slice(start, start + this.text.length);
  }

  /**
   * Returns the origins of the new text's characters. Characters at its end that are the same at the end of the old
   * text keep their origins. The remaining characters are spread evenly over the rest of the old text.
   */
  #originsOf(written: string, { old, index }: { readonly old: string; readonly index: number }): number[] {
    let same = 0;
    while (same < Math.min(old.length, written.length) && old.at(-1 - same) === written.at(-1 - same)) same++;
    const [oldLength, newLength] = [old.length - same, written.length - same];
    return Array.from({ length: written.length }, (_, at) => {
      const place = at < newLength ? Math.floor((at * oldLength) / newLength) : at - newLength + oldLength;
      return this.origins[index + Math.min(place, old.length - 1)] ?? 0;
    });
  }
}
