import { countLetters } from "../../conversation/heard.ts";

interface Sentence {
  readonly text: string;
  readonly isFinal: boolean;
}

interface PacedSentencesOptions {
  /** The number of the last sentence that was sent before. */
  readonly after: number;
  readonly post: (sentence: Sentence & { readonly sequence: number }) => void;
}

/** Holds each sentence of an answer back until it begins to be heard. Numbers sentences as they are sent. */
export class PacedSentences {
  readonly #post: PacedSentencesOptions["post"];
  readonly #waiting: { readonly sentence: Sentence; readonly startsAt: number }[] = [];
  #sequence: number;
  /** Counts of letters: of all sentences so far, and of what has been heard. */
  #added = 0;
  #heard = 0;
  #isFinished = false;

  constructor({ after, post }: PacedSentencesOptions) {
    this.#sequence = after;
    this.#post = post;
  }

  add(sentence: Sentence): void {
    this.#waiting.push({ sentence, startsAt: this.#added });
    this.#added += countLetters(sentence.text);
    this.#send();
  }

  /** The next piece of the answer's text has begun to be heard. */
  hear(text: string): void {
    this.#heard += countLetters(text);
    this.#send();
  }

  /** Sends all sentences that wait, and from now on each one at once. */
  release(): void {
    this.#heard = Number.POSITIVE_INFINITY;
    this.#send();
  }

  /** Drops the sentences that wait, because nobody will hear them. An empty sentence ends the answer. */
  drop(): void {
    this.#waiting.length = 0;
    this.#send();
    if (!this.#isFinished) this.#out({ text: "", isFinal: true });
  }

  #send(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (!next || next.startsAt >= this.#heard) return;
      this.#waiting.shift();
      this.#out(next.sentence);
    }
  }

  #out(sentence: Sentence): void {
    this.#sequence += 1;
    this.#isFinished ||= sentence.isFinal;
    this.#post({ sequence: this.#sequence, ...sentence });
  }
}
