/**
 * Whether a participant is saying something. It is until what it said is understood, which is later than its silence: what
 * comes of it may be the rest of a question.
 */
export class Quiet {
  readonly #giveUpAfterMs: number;
  #quiet = Promise.withResolvers<void>();
  #isQuiet = true;
  #timer: NodeJS.Timeout | undefined;

  /** @param giveUpAfterMs silence in which nothing was understood, and nothing will be */
  constructor(giveUpAfterMs: number) {
    this.#giveUpAfterMs = giveUpAfterMs;
    this.#quiet.resolve();
  }

  /** Resolves when nothing is being said. */
  get reached(): Promise<void> {
    return this.#quiet.promise;
  }

  noteSpeech(): void {
    clearTimeout(this.#timer);
    if (this.#isQuiet) this.#quiet = Promise.withResolvers<void>();
    this.#isQuiet = false;
  }

  noteSilence(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.noteUnderstood(), this.#giveUpAfterMs);
  }

  /** What was said has been handed on, or was nothing. */
  noteUnderstood(): void {
    clearTimeout(this.#timer);
    this.#isQuiet = true;
    this.#quiet.resolve();
  }
}
