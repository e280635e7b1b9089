import type { RecognitionListener } from "./limited-recognizer.ts";

/**
 * Whether words are due: a participant has made a sound, and AgentSession has not passed on its words yet. A turn must
 * not end before that, or its last words would become a message of their own.
 */
export class DueWords implements RecognitionListener {
  #due = Promise.withResolvers<void>();
  #areDue = false;

  constructor() {
    this.#due.resolve();
  }

  /** Resolves once no words are due. */
  get settled(): Promise<void> {
    return this.#due.promise;
  }

  /** Call this when a sound begins whose words the recognizer will return. */
  begin(): void {
    if (!this.#areDue) this.#due = Promise.withResolvers();
    this.#areDue = true;
  }

  /** Call this when AgentSession has passed on the words, or when there are none. */
  settle(): void {
    this.#areDue = false;
    this.#due.resolve();
  }

  handleRequest(): void {
    this.begin();
  }

  handleResponse(answer: "words" | "nothing" | "given_up"): void {
    if (answer !== "words") this.settle();
  }
}
