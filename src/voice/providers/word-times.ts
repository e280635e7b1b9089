import type { AudioFrame } from "@livekit/rtc-node";

/** When a word of a sentence is spoken, in seconds. */
export interface TimedWord {
  readonly text: string;
  readonly startsAt: number;
  readonly endsAt: number;
}

const times = new WeakMap<AudioFrame, readonly TimedWord[]>();

/**
 * Attaches the times of words to a frame, in seconds from the start of this frame. The times may lie before the frame.
 */
export function timeWords(frame: AudioFrame, words: readonly TimedWord[]): void {
  if (words.length > 0) times.set(frame, words);
}

export function timedWordsOf(frame: AudioFrame): readonly TimedWord[] {
  return times.get(frame) ?? [];
}
