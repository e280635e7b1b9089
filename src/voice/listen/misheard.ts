import { type RecognitionListener } from "./limited-recogniser.ts";

/** Sound shorter than this in which there are no words was hardly meant for us. */
const NOTICED_SPEECH_MS = 1_000;
/** Silence by which the end of speech is known. */
const SILENCE_MS = 250;

/**
 * Finds out when the participant has said something that nobody understood, and is waiting for an answer. Not of what is
 * short, however often it comes: coughs and noises.
 */
export class Misheard implements RecognitionListener {
  readonly #onMisheard: () => void;
  #beganAt: number | undefined;
  /** Of what was said in one go, since something was understood last. */
  #longestMs = 0;
  #requests = 0;
  /** It is time to say so, but a request may still bring words. */
  #isOwed = false;

  constructor(onMisheard: () => void) {
    this.#onMisheard = onMisheard;
  }

  noteSpeech(): void {
    this.#beganAt ??= performance.now();
  }

  noteSilence(): void {
    if (this.#beganAt === undefined) return;
    this.#longestMs = Math.max(this.#longestMs, performance.now() - this.#beganAt - SILENCE_MS);
    this.#beganAt = undefined;
  }

  noteUnderstood(): void {
    this.#longestMs = 0;
    this.#isOwed = false;
  }

  /** The participant has been silent for a while, and nothing was understood. */
  noteTimeout(): void {
    const isLong = this.#longestMs >= NOTICED_SPEECH_MS;
    this.#longestMs = 0;
    if (isLong && this.#requests > 0) this.#isOwed = true;
    else if (isLong) this.#say();
  }

  noteAsked(): void {
    this.#requests += 1;
  }

  /** What a recogniser that hangs was asked about may have been words, however short. */
  noteAnswered(answer: "words" | "nothing" | "given_up"): void {
    this.#requests -= 1;
    if (answer === "words") this.noteUnderstood();
    else if (this.#isOwed || answer === "given_up") this.#say();
  }

  #say(): void {
    this.noteUnderstood();
    this.#onMisheard();
  }
}
