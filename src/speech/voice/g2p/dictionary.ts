import { capitalize } from "../text/characters.ts";

/** Phonemes, or phonemes by the word's part of speech. */
export type Entry = string | Readonly<Record<string, string | null>>;

/** Answers for a word in lowercase to its capitalized form too, and the other way round, unless both have entries. */
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

  /** Also of words that are fields of every object, like "constructor". */
  #own(word: string): Entry | undefined {
    return Object.hasOwn(this.#entries, word) ? this.#entries[word] : undefined;
  }
}
