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

/** Holds an answer's sentences back until each begins to be heard. Numbers them as they go out. */
export class PacedSentences {
  readonly #post: PacedSentencesOptions["post"];
  readonly #waiting: { readonly sentence: Sentence; readonly startsAt: number }[] = [];
  #sequence: number;
  /** Letters of the answer: of the sentences so far, and of what has been heard. */
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

  /** So much more of the answer has begun to be heard. */
  hear(text: string): void {
    this.#heard += countLetters(text);
    this.#send();
  }

  /** All that waits goes out, and all that comes goes out at once. */
  release(): void {
    this.#heard = Number.POSITIVE_INFINITY;
    this.#send();
  }

  /** What waits was not heard and will not be: the answer's last sentence is an empty one. */
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
