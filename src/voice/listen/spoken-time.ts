import type { SpokenTimes } from "../../session/room/voice-port.ts";

interface SpokenTimeOptions {
  /** How long a silence has lasted by the time it is reported. */
  readonly silenceMs: number;
  /**
   * Speech after a longer silence starts a new utterance. The earlier sound produced no words; otherwise, `take` would
   * have been called by now.
   */
  readonly giveUpAfterMs: number;
}

/** The start and the last sound of the current utterance, as measured by the voice activity detection. */
export class SpokenTime {
  readonly #options: SpokenTimeOptions;
  #fromAt: number | undefined;
  #toAt: number | undefined;

  constructor(options: SpokenTimeOptions) {
    this.#options = options;
  }

  handleSpeech(): void {
    const now = Date.now();
    if (this.#toAt !== undefined && now - this.#toAt > this.#options.giveUpAfterMs) this.#fromAt = undefined;
    this.#fromAt ??= now;
    this.#toAt = undefined;
  }

  handleSilence(): void {
    this.#toAt = Date.now() - this.#options.silenceMs;
  }

  /** Returns the times of the utterance that has just been completed. Later speech starts a new one. */
  take(): SpokenTimes | undefined {
    const [fromAt, toAt = Date.now()] = [this.#fromAt, this.#toAt];
    this.#fromAt = undefined;
    this.#toAt = undefined;
    return fromAt === undefined ? undefined : { fromAt, toAt: Math.max(fromAt, toAt) };
  }
}
