export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * Drops the question, whose answer then has no parts, if another question would have to wait for it. Also if optional
   * questions have taken too much time.
   */
  readonly isOptional?: boolean;
}

/** A model of embedded speech, in another thread or process. All sessions of the process share it. */
export interface SpeechModel<Question, Part> {
  /**
   * Sends a question and yields the parts of its answer. A reader that stops early cancels the question.
   *
   * @throws if the model fails, hangs, is busy or closed, and with the signal's reason
   */
  readonly ask: (question: Question, options?: AskOptions) => AsyncGenerator<Part, void>;
  readonly close: () => Promise<void>;
}
