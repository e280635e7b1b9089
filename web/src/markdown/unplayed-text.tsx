import type { ReactNode } from "react";

/** Why the rest of a text is marked: it has not been said yet, was never played, or was never read aloud. */
export type RestKind = "ahead" | "unheard" | "unread";

export interface SaidSoFar {
  /** How many characters of the source were said. */
  readonly saidTo: number;
  readonly rest: RestKind;
}

/** Marks the words in one block that were not said. Words must be passed in source order. */
export class ReadMarks {
  readonly #source: string;
  readonly #said: SaidSoFar;
  readonly #notHeard: string;
  #at = 0;
  #hasMarked = false;

  /** @param notHeard what screen readers say before the first word that was never played */
  constructor(source: string, said: SaidSoFar, notHeard: string) {
    this.#source = source;
    this.#said = said;
    this.#notHeard = notHeard;
  }

  /** Renders the next words of the block. */
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
            {isFirst && <span className="visually-hidden">{this.#notHeard}</span>}
            {words.slice(split)}
          </s>
        ) : (
          <span className={rest}>{words.slice(split)}</span>
        )}
      </>
    );
  }
}
