import { countLetters } from "../../conversation/heard.ts";

interface Sentence {
  readonly text: string;
  readonly isFinal: boolean;
}

interface Waiting {
  readonly sentence: Sentence;
  /** The number of letters before it. */
  readonly startsAt: number;
  /** Called when the sentence is sent. Only asides have it. */
  readonly onSent?: () => void;
}

interface WaitingAside {
  /** It begins to be heard. */
  readonly hear: () => void;
  /** It will not be heard. Does nothing if it has been sent. */
  readonly takeBack: () => void;
}

interface PacedSentencesOptions {
  /** The number of the last sentence that was sent before. */
  readonly after: number;
  readonly post: (sentence: Sentence & { readonly sequence: number }) => void;
}

/** Holds each sentence of an answer back until it begins to be heard. Numbers sentences as they are sent. */
export class PacedSentences {
  readonly #post: PacedSentencesOptions["post"];
  #waiting: Waiting[] = [];
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

  /** Adds an aside that will be spoken here. It is sent when it begins to be heard, or with the sentences around it. */
  addAside(text: string, onSent: () => void): WaitingAside {
    const aside = { sentence: { text, isFinal: false }, startsAt: this.#added, onSent };
    this.#waiting.push(aside);
    const takeBack = () => {
      const index = this.#waiting.indexOf(aside);
      if (index >= 0) this.#waiting.splice(index, 1);
      return index >= 0;
    };
    return { hear: () => takeBack() && this.#out(aside), takeBack };
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
    this.#waiting = [];
    this.#send();
    if (!this.#isFinished) this.#out({ sentence: { text: "", isFinal: true } });
  }

  #send(): void {
    const isReleased = this.#heard === Number.POSITIVE_INFINITY;
    const isDue = ({ startsAt, onSent }: Waiting) => startsAt < this.#heard && (isReleased || !onSent);
    const due = this.#waiting.filter(isDue);
    this.#waiting = this.#waiting.filter((waiting) => !due.includes(waiting));
    for (const waiting of due) this.#out(waiting);
  }

  #out({ sentence, onSent }: Pick<Waiting, "sentence" | "onSent">): void {
    this.#sequence += 1;
    this.#isFinished ||= sentence.isFinal;
    this.#post({ ...sentence, sequence: this.#sequence });
    onSent?.();
  }
}
