import { createRequire } from "node:module";
import type { SpeechModel } from "../speech-model.ts";

/** The sample rate of the model's input. */
export const END_OF_TURN_RATE = 16_000;
/** The model looks at the last 1.2 s. Shorter audio counts as preceded by silence. */
export const END_OF_TURN_SAMPLES = 1.2 * END_OF_TURN_RATE;

const PACKAGE = "@livekit/local-inference";

/** Whether the model's library is built for this machine. */
export function hasEndOfTurnModel(): boolean {
  try {
    createRequire(import.meta.url)(PACKAGE);
    return true;
  } catch {
    return false;
  }
}

/**
 * LiveKit's end-of-turn model (`turn-detector-v1-mini`), which is part of `@livekit/local-inference`. Its license allows
 * it to be used with LiveKit Agents only. Answers 16-bit samples with the probability, from 0 to 1, that the speaker has
 * finished. Asked 200 ms after the last sound. One prediction takes 12 ms in libuv's thread pool.
 */
export class EndOfTurnModel implements SpeechModel<Int16Array, number> {
  readonly #predict: (samples: Int16Array) => Promise<number>;

  private constructor(predict: (samples: Int16Array) => Promise<number>) {
    this.#predict = predict;
  }

  /** @throws if there is no build for this machine */
  static async load(): Promise<EndOfTurnModel> {
    const { default: inference } = await import("@livekit/local-inference");
    inference.initEot();
    return new EndOfTurnModel(inference.predict);
  }

  async *ask(samples: Int16Array): AsyncGenerator<number, void> {
    yield await this.#predict(samples);
  }

  async close(): Promise<void> {}
}
