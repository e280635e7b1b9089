import { MOONSHINE_RATE as RATE } from "./moonshine.ts";

const LONGEST_SAMPLES = 15 * RATE;
/** Samples below this share of the loudest sample count as silence. */
const SILENT_SHARE = 0.05;
const LEAD_IN_SAMPLES = RATE / 10;
const LEAD_OUT_SAMPLES = RATE / 5;
const WINDOW_SAMPLES = RATE / 50;
const SHORTEST_SAMPLES = RATE / 10;

/**
 * Trims the silence to 100 ms before the first sound and 200 ms after the last one. With more silence, the model makes
 * up words: 10.2 % of words were wrong after 500 ms of silence, 4.8 % after 100 ms (docs/decisions/embedded-speech.md).
 */
export function trimSilence(samples: Float32Array): Float32Array {
  const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const isSound = (sample: number) => Math.abs(sample) >= loudest * SILENT_SHARE;
  const first = samples.findIndex(isSound);
  const last = samples.findLastIndex(isSound);
  return samples.subarray(Math.max(0, first - LEAD_IN_SAMPLES), last + 1 + LEAD_OUT_SAMPLES);
}

/** Splits audio into pieces of at most 15 s. Each cut is at the quietest 20 ms of a piece's last third. */
export function cutAtPauses(samples: Float32Array): Float32Array<ArrayBuffer>[] {
  const pieces: Float32Array<ArrayBuffer>[] = [];
  let from = 0;
  while (samples.length - from > LONGEST_SAMPLES) {
    const end = from + quietest(samples.subarray(from, from + LONGEST_SAMPLES));
    pieces.push(Float32Array.from(samples.subarray(from, end)));
    from = end;
  }
  if (samples.length - from >= SHORTEST_SAMPLES) pieces.push(Float32Array.from(samples.subarray(from)));
  return pieces;
}

/** Returns the middle of the quietest window in the last third. */
function quietest(samples: Float32Array): number {
  let best = samples.length;
  let least = Number.POSITIVE_INFINITY;
  for (let at = Math.trunc((samples.length * 2) / 3); at + WINDOW_SAMPLES <= samples.length; at += WINDOW_SAMPLES) {
    const energy = samples.subarray(at, at + WINDOW_SAMPLES).reduce((sum, sample) => sum + sample ** 2, 0);
    if (energy < least) [best, least] = [at + WINDOW_SAMPLES / 2, energy];
  }
  return best;
}
