import { ids, type Model } from "../network/model.ts";

/** The contents of `oov.json` in the voice's folder. */
export interface UnknownWordTables {
  readonly in: readonly string[];
  readonly out: readonly string[];
  readonly maxlen: number;
}

/** The size of the cache, in words. Names recur within a conversation. */
const REMEMBERED = 1000;

/** Reads words that are not in a dictionary, with a small network that works on their letters. */
export class UnknownWords {
  readonly #model: Model;
  readonly #tables: UnknownWordTables;
  readonly #ids: ReadonlyMap<string, number>;
  readonly #known = new Map<string, string>();

  constructor(model: Model, tables: UnknownWordTables) {
    this.#model = model;
    this.#tables = tables;
    this.#ids = new Map(tables.in.map((letter, index) => [letter, index + 1]));
  }

  /** Returns a word's phonemes, or an empty string if the network knows none of the word's letters. */
  async read(word: string): Promise<string> {
    const known = this.#known.get(word);
    if (known !== undefined) return known;
    const chars = Array.from(word)
      .flatMap((letter) => this.#ids.get(letter) ?? [])
      .slice(0, this.#tables.maxlen);
    const phonemes = chars.length > 0 ? this.#decode(ids(await this.#model.run({ chars }), "ids")) : "";
    if (this.#known.size >= REMEMBERED) this.#known.clear();
    this.#known.set(word, phonemes);
    return phonemes;
  }

  /**
   * Converts the network's output to phonemes. The network repeats a phoneme for as long as it lasts, and separates two
   * equal phonemes with 0.
   */
  #decode(answer: readonly number[]): string {
    return answer.map((id, at) => (id !== 0 && id !== answer[at - 1] ? (this.#tables.out[id - 1] ?? "") : "")).join("");
  }
}
