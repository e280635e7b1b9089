import { AudioFrame } from "@livekit/rtc-node";
import { expect, test } from "vitest";
import { toAudioFrame } from "../../src/livekit/audio-frame.ts";

const samples = Int16Array.from([1, 2, 3, 4]).subarray(1, 3);

test("a frame has its own buffer for its samples", () => {
  const frame = toAudioFrame(samples, 8_000);

  expect([...frame.data]).toEqual([2, 3]);
  expect(frame.data.buffer.byteLength).toBe(4);
  expect([frame.sampleRate, frame.channels, frame.samplesPerChannel]).toEqual([8_000, 1, 2]);
});

test("LiveKit's own frame sends the whole buffer that its samples are part of", () => {
  const frame = new AudioFrame(samples, 8_000, 1, 2);

  expect(frame.data.buffer.byteLength).toBe(8);
  expect(AudioFrame.prototype.protoInfo.toString()).toContain("new Uint8Array(this.data.buffer)");
});
