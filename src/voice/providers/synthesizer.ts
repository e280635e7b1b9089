import { type AudioFrame } from "@livekit/rtc-node";

/** Makes sound of text. */
export interface Synthesizer {
  /**
   * The sound of a text that is still being written, as early as it can be had. Ends when the signal is aborted.
   *
   * @throws when no sound can be made of it
   */
  readonly speak: (text: AsyncIterable<string>, options: SpeakOptions) => AsyncIterable<AudioFrame>;
  readonly close: () => Promise<void>;
}

export interface SpeakOptions {
  /** BCP 47. */
  readonly language: string | undefined;
  readonly signal: AbortSignal;
}
