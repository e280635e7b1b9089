import { AudioFrame } from "@livekit/rtc-node";

/**
 * A frame of one channel. It gets a copy of the samples: a frame sends its array's whole buffer, whatever part of it the
 * array shows. Checked with @livekit/rtc-node 0.13.35.
 */
export function toAudioFrame(samples: Int16Array, sampleRate: number): AudioFrame {
  const own = samples.slice();
  return new AudioFrame(own, sampleRate, 1, own.length);
}
