import type { AudioFrame } from "@livekit/rtc-node";
import { resample, toMono } from "../../../livekit/audio-frame.ts";
import { MOONSHINE_RATE as RATE } from "../../../speech/listen/moonshine.ts";

/** Converts frames to mono samples from -1 to 1, at 16,000 samples per second. */
export function toSamples(frames: readonly AudioFrame[]): Float32Array {
  const parts = resample(frames, RATE).map(toMono);
  const samples = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) for (const sample of part) samples[at++] = sample / 32_768;
  return samples;
}
