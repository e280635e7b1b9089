/** A model of embedded speech, in another thread or process. All sessions of the process share it. */
export interface SpeechModel<Question, Value> {
  /**
   * Sends a question and resolves to its answer.
   *
   * @throws if the model fails, hangs, is busy or closed, and with the signal's reason
   */
  readonly ask: (question: Question, signal?: AbortSignal) => Promise<Value>;
  readonly close: () => Promise<void>;
}
