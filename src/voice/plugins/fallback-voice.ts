import type { AudioFrame } from "@livekit/rtc-node";
import { FallbackOrder } from "../../agent/fallback-order.ts";
import { piecesOf, type SpeakOptions, type Synthesizer } from "../providers/synthesizer.ts";

/**
 * Speaks with the first voice of a list that works. If a voice fails before a sentence's first sound, the next one
 * speaks the sentence, otherwise the next one begins with the next sentence. Replaces LiveKit's `tts.FallbackAdapter`,
 * which waits forever for a voice that gets stuck.
 */
export class FallbackVoice implements Synthesizer {
  readonly #order: FallbackOrder<Synthesizer>;
  readonly #onFailed: (error: unknown) => void;

  /** @param onFailed called when another voice continues */
  constructor(voices: readonly Synthesizer[], onFailed: (error: unknown) => void) {
    this.#order = new FallbackOrder(voices);
    this.#onFailed = onFailed;
  }

  async *speak(text: AsyncIterable<string>, options: SpeakOptions): AsyncGenerator<AudioFrame> {
    const sentence = (await Array.fromAsync(text)).join("");
    const voices = this.#order.current;
    for (const voice of voices) {
      let hasSound = false;
      try {
        for await (const frame of voice.speak(piecesOf(sentence), options)) {
          hasSound = true;
          yield frame;
        }
        return;
      } catch (error) {
        this.#order.markFailed(voice);
        if (voice === voices.at(-1)) throw error;
        this.#onFailed(error);
        if (hasSound) return;
      }
    }
  }

  async close(): Promise<void> {}
}
