import type { AnswerProgress } from "../../conversation/turn-record.ts";
import { countLetters } from "../../conversation/truncate-to-played.ts";

interface Sentence {
  readonly text: string;
  readonly isFinal: boolean;
}

interface Waiting {
  readonly sentence: Sentence;
  /** The number of letters in the answer before this sentence. */
  readonly startsAt: number;
  /** Called when the sentence is sent. Set only for asides. */
  readonly onSent?: () => void;
}

interface WaitingAside {
  /** Call this when playback of the aside begins. */
  readonly markPlayed: () => void;
  /** Call this when the aside will not be played. Does nothing if it has already been sent. */
  readonly takeBack: () => void;
}

interface PacedSentencesOptions {
  /** How much of the answer an earlier worker sent and played. */
  readonly before: Required<AnswerProgress>;
  /** The part of `before` that is already stored. */
  readonly stored: AnswerProgress;
  readonly post: (sentence: Sentence & { readonly sequence: number }) => void;
  /** Called when more of the answer was sent or played. */
  readonly onProgress: (progress: AnswerProgress) => void;
}

/** Holds back each sentence of an answer until its playback begins. Numbers sentences in the order they are sent. */
export class PacedSentences {
  readonly #post: PacedSentencesOptions["post"];
  #waiting: Waiting[] = [];
  readonly #onProgress: PacedSentencesOptions["onProgress"];
  #progress: AnswerProgress;
  #sequence: number;
  #asides: number;
  /** How many of the answer's own sentences were played in full. */
  #playedSentences: number;
  /** The end position of each sentence not yet played in full, as a count of letters (see `countLetters`). */
  readonly #ends: number[] = [];
  /** How many letters all sentences so far have. */
  #added = 0;
  /** How many letters have been played so far. */
  #playedLetters = 0;
  #isFinished = false;

  constructor({ before, stored, post, onProgress }: PacedSentencesOptions) {
    this.#progress = stored;
    this.#sequence = before.sent;
    this.#asides = before.asides;
    this.#playedSentences = before.heard;
    this.#post = post;
    this.#onProgress = onProgress;
  }

  add(sentence: Sentence): void {
    this.#waiting.push({ sentence, startsAt: this.#added });
    this.repeat(sentence.text);
    this.#send();
  }

  /**
   * Counts a sentence without sending it. Call this directly for a sentence that an earlier worker sent but did not
   * play in full.
   */
  repeat(text: string): void {
    this.#added += countLetters(text);
    this.#ends.push(this.#added);
  }

  /** Adds an aside. It is sent when its playback begins, or at once after `release`. */
  addAside(text: string, onSent: () => void): WaitingAside {
    const aside = { sentence: { text, isFinal: false }, startsAt: this.#added, onSent };
    this.#waiting.push(aside);
    this.#send();
    const takeBack = () => {
      const index = this.#waiting.indexOf(aside);
      if (index >= 0) this.#waiting.splice(index, 1);
      return index >= 0;
    };
    const markPlayed = () => {
      if (!takeBack()) return;
      this.#out(aside);
      this.#updateProgress();
    };
    return { markPlayed, takeBack };
  }

  /** Call this when playback of the next piece of the answer's text begins. */
  markPlayed(text: string): void {
    this.#playedLetters += countLetters(text);
    this.#send();
  }

  /** Sends all held sentences. From now on, each new sentence is sent immediately. */
  release(): void {
    this.#playedLetters = Number.POSITIVE_INFINITY;
    this.#send();
  }

  /** Drops the held sentences, which will not be played. Sends an empty final sentence if none was final yet. */
  drop(): void {
    this.#waiting = [];
    this.#send();
    if (!this.#isFinished) this.#out({ sentence: { text: "", isFinal: true } });
  }

  #send(): void {
    const isReleased = this.#isReleased;
    const isDue = ({ startsAt, onSent }: Waiting) => startsAt < this.#playedLetters && (isReleased || !onSent);
    const due = this.#waiting.filter(isDue);
    this.#waiting = this.#waiting.filter((waiting) => !due.includes(waiting));
    for (const waiting of due) this.#out(waiting);
    this.#updateProgress();
  }

  get #isReleased(): boolean {
    return this.#playedLetters === Number.POSITIVE_INFINITY;
  }

  #updateProgress(): void {
    const next = this.#ends.findIndex((end) => end > this.#playedLetters);
    this.#playedSentences += this.#ends.splice(0, next < 0 ? this.#ends.length : next).length;
    const before = this.#progress;
    const now = {
      asides: this.#asides,
      ...(!this.#isReleased && { sent: this.#sequence, heard: this.#playedSentences }),
    };
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
