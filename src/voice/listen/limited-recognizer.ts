import { stt } from "@livekit/agents";
import { AppError } from "../../errors/app-error.ts";
import { abortable } from "../../lib/abortable.ts";

/** A recognizer for single utterances usually answers within two seconds. After this time, it is considered stuck. */
const LIMIT_MS = 6_000;

/** Called when the recognizer receives a request and when it answers. `given_up` means that it took too long. */
export interface RecognitionListener {
  readonly handleRequest: () => void;
  readonly handleResponse: (answer: "words" | "nothing" | "given_up") => void;
}

/**
 * Adds a time limit to a recognizer that is called once per utterance. Requests run one after another, so without the
 * limit a stuck request would block all later utterances.
 */
export class LimitedRecognizer extends stt.STT {
  readonly label: string;
  readonly #inner: stt.STT;
  readonly #listeners: readonly RecognitionListener[];

  constructor(inner: stt.STT, listeners: readonly RecognitionListener[]) {
    super(inner.capabilities);
    this.label = inner.label;
    this.#inner = inner;
    this.#listeners = listeners;
  }

  override get model(): string {
    return this.#inner.model;
  }

  override get provider(): string {
    return this.#inner.provider;
  }

  protected override async _recognize(...[frames, signal]: Parameters<stt.STT["recognize"]>): Promise<stt.SpeechEvent> {
    const textOf = (event: stt.SpeechEvent) => event.alternatives?.[0].text ?? "";
    return this.limit((either) => this.#inner.recognize(frames, either), textOf, signal);
  }

  /**
   * Waits for a recognition of the inner recognizer, at most for the time limit.
   *
   * @param textOf returns the words in the result
   */
  async limit<Result>(
    recognize: (signal: AbortSignal) => Promise<Result>,
    textOf: (result: Result) => string,
    signal?: AbortSignal,
  ): Promise<Result> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(new AppError("unavailable", `${this.label} took too long`)), LIMIT_MS);
    const either = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
    let answer: Parameters<RecognitionListener["handleResponse"]>[0] = "nothing";
    for (const listener of this.#listeners) listener.handleRequest();
    try {
      const result = await abortable(recognize(either), either);
      if (textOf(result).trim() !== "") answer = "words";
      return result;
    } catch (error) {
      if (limit.signal.aborted) answer = "given_up";
      throw error;
    } finally {
      clearTimeout(timer);
      for (const listener of this.#listeners) listener.handleResponse(answer);
    }
  }

  override stream(...options: Parameters<stt.STT["stream"]>): stt.SpeechStream {
    return this.#inner.stream(...options);
  }
}
