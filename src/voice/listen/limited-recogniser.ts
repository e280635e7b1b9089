import { stt } from "@livekit/agents";
import { abortable } from "../../lib/abortable.ts";

/** A recogniser of single utterances answers in one or two seconds, or it hangs. */
const LIMIT_MS = 6_000;

/** What becomes of a request. */
export interface RecognitionListener {
  readonly noteAsked: () => void;
  readonly noteAnswered: (answer: "words" | "nothing" | "given_up") => void;
}

/**
 * A recogniser that is asked for each utterance by itself, one after another: a request that hangs is given up, so that
 * what is said after it is understood.
 */
export class LimitedRecogniser extends stt.STT {
  readonly label: string;
  readonly #inner: stt.STT;
  readonly #listener: RecognitionListener;

  constructor(inner: stt.STT, listener: RecognitionListener) {
    super(inner.capabilities);
    this.label = inner.label;
    this.#inner = inner;
    this.#listener = listener;
  }

  override get model(): string {
    return this.#inner.model;
  }

  override get provider(): string {
    return this.#inner.provider;
  }

  protected override async _recognize(...[frames, signal]: Parameters<stt.STT["recognize"]>): Promise<stt.SpeechEvent> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(new Error("The recogniser took too long")), LIMIT_MS);
    const either = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
    let answer: Parameters<RecognitionListener["noteAnswered"]>[0] = "nothing";
    this.#listener.noteAsked();
    try {
      const event = await abortable(this.#inner.recognize(frames, either), either);
      if (event.alternatives?.[0].text.trim()) answer = "words";
      return event;
    } catch (error) {
      if (limit.signal.aborted) answer = "given_up";
      throw error;
    } finally {
      clearTimeout(timer);
      this.#listener.noteAnswered(answer);
    }
  }

  override stream(...options: Parameters<stt.STT["stream"]>): stt.SpeechStream {
    return this.#inner.stream(...options);
  }
}
