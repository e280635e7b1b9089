import { AudioFrame } from "@livekit/rtc-node";

/**
 * A frame of one channel, with a copy of the samples: a frame sends the whole buffer of its array, even when the array
 * shows only a part. Checked with @livekit/rtc-node 0.13.35.
 */
export function toAudioFrame(samples: Int16Array, sampleRate: number): AudioFrame {
  const own = samples.slice();
  return new AudioFrame(own, sampleRate, 1, own.length);
}
