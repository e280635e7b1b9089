import type { RecognitionListener } from "./limited-recognizer.ts";
import { NOTICED_SILENCE_MS } from "./voice-activity.ts";

/** Shorter sounds without words, such as coughs, are ignored. */
const NOTICED_SPEECH_MS = 1_000;

/**
 * Calls back when a participant said something that was not understood, and would otherwise wait in vain for an answer.
 * Short sounds, such as coughs, do not count, however many there are.
 */
export class UnrecognizedSpeech implements RecognitionListener {
  readonly #onUnrecognized: () => void;
  #beganAt: number | undefined;
  /** The longest stretch of speech since words were last understood. */
  #longestMs = 0;
  #requests = 0;
  /** Whether the callback is due but waits for a pending request, which may still return words. */
  #isOwed = false;

  constructor(onUnrecognized: () => void) {
    this.#onUnrecognized = onUnrecognized;
  }

  /** Whether a request to the recognizer is pending. */
  get isAsked(): boolean {
    return this.#requests > 0;
  }

  handleSpeech(): void {
    this.#beganAt ??= performance.now();
  }

  handleSilence(): void {
    if (this.#beganAt === undefined) return;
    this.#longestMs = Math.max(this.#longestMs, performance.now() - this.#beganAt - NOTICED_SILENCE_MS);
    this.#beganAt = undefined;
  }

  handleRecognized(): void {
    this.#longestMs = 0;
    this.#isOwed = false;
  }

  /** Call this when the participant has been silent for a while and no words were recognized. */
  handleTimeout(): void {
    const isLong = this.#longestMs >= NOTICED_SPEECH_MS;
    this.#longestMs = 0;
    if (isLong && this.#requests > 0) this.#isOwed = true;
    else if (isLong) this.#say();
  }

  handleRequest(): void {
    this.#requests += 1;
  }

  /** After `given_up`, calls back even for a short sound, because the sound may have been words. */
  handleResponse(answer: "words" | "nothing" | "given_up"): void {
    this.#requests -= 1;
    if (answer === "words") this.handleRecognized();
    else if (this.#isOwed || answer === "given_up") this.#say();
  }

  #say(): void {
    this.handleRecognized();
    this.#onUnrecognized();
  }
}
