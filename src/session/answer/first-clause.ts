import { SentenceCutter } from "./cut-sentences.ts";

/** Fewer words are over before the rest of the sentence is written: the voice would pause in the middle of it. */
const MIN_WORDS = 4;
/**
 * A mark between two clauses. Both neighbors are letters, so that numbers, dates, formulas, abbreviations and lists are
 * not cut.
 */
const BETWEEN_CLAUSES = /(?<=\p{L})(?:\s?[,;:،؛–—]|\s-)\s+(?=\p{L})/gu;
const SENTENCE_END = /[.?!…]["'”’»)]*\s*$/u;
/** Markdown, whose end may be missing in a clause. */
const MARKUP = /[*_`~[\]|<>#\n]/u;

/**
 * Returns the first clause of a sentence that is still being written, with its mark and the white space after it, if the
 * clause is long enough.
 */
export function firstClause(sentence: string): string | undefined {
  if (SENTENCE_END.test(sentence)) return undefined;
  for (const { 0: mark, index } of sentence.matchAll(BETWEEN_CLAUSES)) {
    const clause = sentence.slice(0, index + mark.length);
    if (MARKUP.test(clause)) return undefined;
    if (clause.trim().split(/\s+/u).length >= MIN_WORDS) return clause;
  }
  return undefined;
}

/**
 * Splits streamed text into the pieces that a voice receives: sentences. If the first sentence is not complete yet, its
 * first clause is a piece of its own, because the participant has been waiting in silence. White space is preserved.
 */
export class SpokenPieces {
  readonly #cutter: SentenceCutter;
  #hasBegun = false;

  /** @param language a BCP 47 tag; an unknown language falls back to the default */
  constructor(language: string | undefined) {
    this.#cutter = new SentenceCutter(language);
  }

  /** Appends text and returns the pieces that it completes. */
  write(text: string): string[] {
    const sentences = this.#cutter.write(text);
    this.#hasBegun ||= sentences.some((sentence) => sentence.trim() !== "");
    const clause = this.#hasBegun ? undefined : firstClause(this.#cutter.pending);
    if (clause === undefined) return sentences;
    this.#hasBegun = true;
    return [...sentences, this.#cutter.take(clause.length)];
  }

  /** Ends the current sentence, even without punctuation, and returns the rest of it. */
  end(): string {
    const rest = this.#cutter.end();
    this.#hasBegun ||= rest.trim() !== "";
    return rest;
  }
}
