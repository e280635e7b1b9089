import { stt } from "@livekit/agents";
import { FallbackOrder } from "../../agent/fallback-order.ts";
import { abortable } from "../../lib/abortable.ts";
import { namedError, pluginName } from "../providers/plugin-error.ts";

/** How long a recognizer may take for an utterance if another one can replace it. */
const LIMIT_MS = 3_000;

/** Asks the first recognizer of a list that works. For recognizers that are called once per utterance. */
export class FallbackRecognizer extends stt.STT {
  readonly label: string;
  readonly #order: FallbackOrder<stt.STT>;
  readonly #onFailed: (error: unknown) => void;

  /** @param onFailed called when another recognizer is asked */
  constructor(recognizers: readonly [stt.STT, ...stt.STT[]], onFailed: (error: unknown) => void) {
    super(recognizers[0].capabilities);
    this.label = recognizers.map(pluginName).join(", ");
    this.#order = new FallbackOrder(recognizers);
    this.#onFailed = onFailed;
  }

  protected override async _recognize(...[frames, signal]: Parameters<stt.STT["recognize"]>): Promise<stt.SpeechEvent> {
    const recognizers = this.#order.current;
    for (const recognizer of recognizers) {
      const isLast = recognizer === recognizers.at(-1);
      const limits = [...(signal ? [signal] : []), ...(isLast ? [] : [AbortSignal.timeout(LIMIT_MS)])];
      const limited = AbortSignal.any(limits);
      try {
        return await abortable(recognizer.recognize(frames, limited), limited);
      } catch (error) {
        signal?.throwIfAborted();
        this.#order.markFailed(recognizer);
        const named = namedError(pluginName(recognizer), error);
        if (isLast) throw named;
        this.#onFailed(named);
      }
    }
    throw new TypeError("There is no recognizer");
  }

  override stream(): stt.SpeechStream {
    throw new TypeError("These recognizers are called once per utterance");
  }
}
