import type { AnswerProgress } from "../../conversation/turn-record.ts";
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
  /** What was said before. */
  readonly before: Required<AnswerProgress>;
  /** What is stored of it. */
  readonly stored: AnswerProgress;
  readonly post: (sentence: Sentence & { readonly sequence: number }) => void;
  /** Called when more has been said. */
  readonly onProgress: (progress: AnswerProgress) => void;
}

/** Holds each sentence of an answer back until it begins to be heard. Numbers sentences as they are sent. */
export class PacedSentences {
  readonly #post: PacedSentencesOptions["post"];
  #waiting: Waiting[] = [];
  readonly #onProgress: PacedSentencesOptions["onProgress"];
  #progress: AnswerProgress;
  #sequence: number;
  #asides: number;
  /** The answer's own sentences that were heard in full, and where the next ones end, in letters. */
  #whole: number;
  readonly #ends: number[] = [];
  /** Counts of letters: of all sentences so far, and of what has been heard. */
  #added = 0;
  #heard = 0;
  #isFinished = false;

  constructor({ before, stored, post, onProgress }: PacedSentencesOptions) {
    this.#progress = stored;
    this.#sequence = before.sent;
    this.#asides = before.asides;
    this.#whole = before.heard;
    this.#post = post;
    this.#onProgress = onProgress;
  }

  add(sentence: Sentence): void {
    this.#waiting.push({ sentence, startsAt: this.#added });
    this.repeat(sentence.text);
    this.#send();
  }

  /** Notes a sentence that is said again, because it was sent, but not heard in full. */
  repeat(text: string): void {
    this.#added += countLetters(text);
    this.#ends.push(this.#added);
  }

  /** Adds an aside. It is sent when it begins to be heard, or at once after `release`. */
  addAside(text: string, onSent: () => void): WaitingAside {
    const aside = { sentence: { text, isFinal: false }, startsAt: this.#added, onSent };
    this.#waiting.push(aside);
    this.#send();
    const takeBack = () => {
      const index = this.#waiting.indexOf(aside);
      if (index >= 0) this.#waiting.splice(index, 1);
      return index >= 0;
    };
    const hear = () => {
      if (!takeBack()) return;
      this.#out(aside);
      this.#noteProgress();
    };
    return { hear, takeBack };
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
    const isReleased = this.#isReleased;
    const isDue = ({ startsAt, onSent }: Waiting) => startsAt < this.#heard && (isReleased || !onSent);
    const due = this.#waiting.filter(isDue);
    this.#waiting = this.#waiting.filter((waiting) => !due.includes(waiting));
    for (const waiting of due) this.#out(waiting);
    this.#noteProgress();
  }

  get #isReleased(): boolean {
    return this.#heard === Number.POSITIVE_INFINITY;
  }

  #noteProgress(): void {
    const next = this.#ends.findIndex((end) => end > this.#heard);
    this.#whole += this.#ends.splice(0, next < 0 ? this.#ends.length : next).length;
    const before = this.#progress;
    const now = { asides: this.#asides, ...(!this.#isReleased && { sent: this.#sequence, heard: this.#whole }) };
    if (now.asides === before.asides && now.sent === before.sent && now.heard === before.heard) return;
    this.#progress = now;
    this.#onProgress(now);
  }

  #out({ sentence, onSent }: Pick<Waiting, "sentence" | "onSent">): void {
    this.#sequence += 1;
    this.#isFinished ||= sentence.isFinal;
    this.#post({ ...sentence, sequence: this.#sequence });
    if (onSent) this.#asides += 1;
    onSent?.();
  }
}
