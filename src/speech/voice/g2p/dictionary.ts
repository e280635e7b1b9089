import { capitalize } from "../text/characters.ts";

/** A word's phonemes, possibly different ones for each part of speech. */
export type Entry = string | Readonly<Record<string, string | null>>;

/** A lookup that also tries the capitalized form of a lowercase word, and the lowercase form of a capitalized one. */
export class Dictionary {
  readonly #entries: Readonly<Record<string, Entry>>;

  constructor(entries: Readonly<Record<string, Entry>>) {
    this.#entries = entries;
  }

  get(word: string): Entry | undefined {
    const entry = this.#own(word);
    if (entry !== undefined || word.length < 2) return entry;
    const lower = word.toLowerCase();
    if (word === lower) return this.#own(capitalize(word));
    return word === capitalize(lower) ? this.#own(lower) : undefined;
  }

  has(word: string): boolean {
    return this.get(word) !== undefined;
  }

  /** Ignores inherited properties such as "constructor". */
  #own(word: string): Entry | undefined {
    return Object.hasOwn(this.#entries, word) ? this.#entries[word] : undefined;
  }
}
