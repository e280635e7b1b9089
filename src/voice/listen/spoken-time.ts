import type { SpokenTimes } from "../../session/room/voice-port.ts";

interface SpokenTimeOptions {
  /** What is told as silence has lasted that long by then. */
  readonly silenceMs: number;
  /** After a longer silence than this, something else is said: what was heard before had no words. */
  readonly giveUpAfterMs: number;
}

/** When the utterance that is being heard began, and when its last sound was, by the voice activity. */
export class SpokenTime {
  readonly #options: SpokenTimeOptions;
  #fromAt: number | undefined;
  #toAt: number | undefined;

  constructor(options: SpokenTimeOptions) {
    this.#options = options;
  }

  noteSpeech(): void {
    const now = Date.now();
    if (this.#toAt !== undefined && now - this.#toAt > this.#options.giveUpAfterMs) this.#fromAt = undefined;
    this.#fromAt ??= now;
    this.#toAt = undefined;
  }

  noteSilence(): void {
    this.#toAt = Date.now() - this.#options.silenceMs;
  }

  /** Of the utterance that is complete now; what is said next begins anew. */
  take(): SpokenTimes | undefined {
    const [fromAt, toAt = Date.now()] = [this.#fromAt, this.#toAt];
    this.#fromAt = undefined;
    this.#toAt = undefined;
    return fromAt === undefined ? undefined : { fromAt, toAt: Math.max(fromAt, toAt) };
  }
}
