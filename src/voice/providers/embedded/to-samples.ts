import { type AudioFrame, AudioResampler } from "@livekit/rtc-node";
import { MOONSHINE_RATE as RATE } from "../../../speech/listen/moonshine.ts";

/** Converts frames to mono samples from -1 to 1, at 16,000 samples per second. */
export function toSamples(frames: readonly AudioFrame[]): Float32Array {
  const [first] = frames;
  if (!first) return new Float32Array(0);
  const { sampleRate, channels } = first;
  const resampled = sampleRate === RATE ? frames : resample(frames, new AudioResampler(sampleRate, RATE, channels));
  return joined(resampled.map((frame) => (channels === 1 ? frame.data : mixed(frame))));
}

function resample(frames: readonly AudioFrame[], resampler: AudioResampler): AudioFrame[] {
  return [...frames.flatMap((frame) => resampler.push(frame)), ...resampler.flush()];
}

function mixed({ data, channels }: AudioFrame): Int16Array {
  const mono = new Int16Array(data.length / channels);
  for (let at = 0; at < mono.length; at++) {
    const each = data.subarray(at * channels, (at + 1) * channels);
    mono[at] = each.reduce((sum, sample) => sum + sample, 0) / channels;
  }
  return mono;
}

function joined(parts: readonly Int16Array[]): Float32Array {
  const samples = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) for (const sample of part) samples[at++] = sample / 32_768;
  return samples;
}
