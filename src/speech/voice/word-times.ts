import { MARKS } from "./g2p/split-words.ts";
import { FRAMES_PER_STEP, HOP, SAMPLE_RATE } from "./sound/frames.ts";

const MS_PER_STEP = ((FRAMES_PER_STEP * HOP) / SAMPLE_RATE) * 1000;

export interface SpokenWord {
  /** As written in the text. */
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** A phoneme that the network has spoken. */
export interface SpokenPhoneme {
  readonly phoneme: string;
  /** The index of the corresponding written character. */
  readonly origin: number;
  /** When the phoneme starts and ends, in steps from the beginning of the sound. */
  readonly start: number;
  readonly end: number;
}

/** Returns when each word of a text is heard. A word without a sound of its own, such as a dash, takes no time. */
export function wordTimes(text: string, phonemes: readonly SpokenPhoneme[]): SpokenWord[] {
  const heard = phonemes.filter(({ phoneme }) => phoneme !== " " && !MARKS.has(phoneme));
  let endMs = 0;
  return Array.from(text.matchAll(/\S+/g), ({ 0: word, index }) => {
    const own = heard.filter(({ origin }) => origin >= index && origin < index + word.length);
    const startMs = Math.max(endMs, (own[0]?.start ?? 0) * MS_PER_STEP);
    endMs = Math.max(startMs, (own.at(-1)?.end ?? 0) * MS_PER_STEP);
    return { text: word, startMs, endMs };
  });
}
