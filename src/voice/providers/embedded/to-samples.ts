import { type AudioFrame, AudioResampler } from "@livekit/rtc-node";
import { toMono } from "../../../livekit/audio-frame.ts";
import { MOONSHINE_RATE as RATE } from "../../../speech/listen/moonshine.ts";

/** Converts frames to mono samples from -1 to 1, at 16,000 samples per second. */
export function toSamples(frames: readonly AudioFrame[]): Float32Array {
  const [first] = frames;
  if (!first) return new Float32Array(0);
  const { sampleRate, channels } = first;
  const resampled = sampleRate === RATE ? frames : resample(frames, new AudioResampler(sampleRate, RATE, channels));
  return joined(resampled.map(toMono));
}

function resample(frames: readonly AudioFrame[], resampler: AudioResampler): AudioFrame[] {
  return [...frames.flatMap((frame) => resampler.push(frame)), ...resampler.flush()];
}

function joined(parts: readonly Int16Array[]): Float32Array {
  const samples = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) for (const sample of part) samples[at++] = sample / 32_768;
  return samples;
}
