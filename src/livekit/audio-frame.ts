import { AudioFrame, AudioResampler } from "@livekit/rtc-node";

/**
 * Returns a mono frame with a copy of the samples. Without a copy, a frame sends the array's whole buffer, even if the
 * array is a view of only part of it. Checked with @livekit/rtc-node 0.13.35.
 */
export function toAudioFrame(samples: Int16Array, sampleRate: number): AudioFrame {
  const own = samples.slice();
  return new AudioFrame(own, sampleRate, 1, own.length);
}

/** Copies a frame, for example one that is a view of a buffer that its owner overwrites. */
export function copyFrame({ data, sampleRate, channels, samplesPerChannel }: AudioFrame): AudioFrame {
  return new AudioFrame(data.slice(), sampleRate, channels, samplesPerChannel);
}

/** Returns the mean of a frame's channels. The samples of a frame with one channel are not copied. */
export function toMono({ data, channels }: Pick<AudioFrame, "data" | "channels">): Int16Array {
  if (channels === 1) return data;
  const mono = new Int16Array(data.length / channels);
  for (let at = 0; at < mono.length; at++) {
    const each = data.subarray(at * channels, (at + 1) * channels);
    mono[at] = each.reduce((sum, sample) => sum + sample, 0) / channels;
  }
  return mono;
}

/** Converts frames, all of the same form, to another sample rate. */
export function resample(frames: readonly AudioFrame[], sampleRate: number): readonly AudioFrame[] {
  const [first] = frames;
  if (!first || first.sampleRate === sampleRate) return frames;
  const resampler = new AudioResampler(first.sampleRate, sampleRate, first.channels);
  const resampled = [...frames.flatMap((frame) => resampler.push(frame)), ...resampler.flush()];
  resampler.close();
  return resampled;
}

/** Converts the samples of one channel to another sample rate. */
export function resampleMono(samples: Int16Array, from: number, to: number): Int16Array {
  return from === to ? samples : joinSamples(resample([toAudioFrame(samples, from)], to).map(toMono));
}

export function joinSamples(parts: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
