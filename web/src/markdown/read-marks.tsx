import type { ReactNode } from "react";

/** How the end of a text that has not been said is marked: not said yet, never heard, or never read aloud. */
export type RestKind = "ahead" | "unheard" | "unread";

export interface SaidSoFar {
  /** How many characters of the source have been said. */
  readonly saidTo: number;
  readonly rest: RestKind;
}

/** Marks the words of one block that have not been said, in the order in which they appear in its source. */
export class ReadMarks {
  readonly #source: string;
  readonly #said: SaidSoFar;
  #at = 0;
  #hasMarked = false;

  constructor(source: string, said: SaidSoFar) {
    this.#source = source;
    this.#said = said;
  }

  /** Takes the block's next words. */
  mark(words: string): ReactNode {
    const { saidTo, rest } = this.#said;
    const found = this.#source.indexOf(words, this.#at);
    const from = found < 0 ? this.#at : found;
    this.#at = from + words.length;
    if (saidTo >= this.#at || words.trim() === "") return words;
    const split = Math.max(0, saidTo - from);
    const isFirst = !this.#hasMarked;
    this.#hasMarked = true;
    return (
      <>
        {words.slice(0, split)}
        {rest === "unheard" ? (
          <s className="unheard">
            {isFirst && <span className="visually-hidden">Not heard: </span>}
            {words.slice(split)}
          </s>
        ) : (
          <span className={rest}>{words.slice(split)}</span>
        )}
      </>
    );
  }
}
