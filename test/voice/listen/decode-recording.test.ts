import type { AudioFrame } from "@livekit/rtc-node";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeRecording, type Recording } from "../../../src/voice/listen/decode-recording.ts";
import { loadRecognizer } from "../../support/embedded-speech.ts";
import { browserRecording } from "../../support/recordings.ts";

const WEBM = { mimeType: "audio/webm;codecs=opus", sampleRate: 48_000, channels: 1 };

const pcm = (samples: readonly number[], format: Partial<Recording> = {}): Recording => ({
  mimeType: "audio/pcm",
  sampleRate: 16_000,
  channels: 1,
  chunks: [new Uint8Array(Int16Array.from(samples).buffer)],
  ...format,
});

const secondsOf = (frames: readonly AudioFrame[]) =>
  frames.reduce((sum, { samplesPerChannel, sampleRate }) => sum + samplesPerChannel / sampleRate, 0);

const samplesOf = (frames: readonly AudioFrame[]) => frames.flatMap(({ data }) => [...data]);

test("a browser's recording contains the words that were spoken", { timeout: 180_000 }, async () => {
  await using recognizer = await loadRecognizer();

  const frames = await decodeRecording({ ...WEBM, chunks: [await browserRecording()] });
  const { alternatives } = await recognizer.recognize(frames);

  expect(secondsOf(frames)).toBeCloseTo(2.2, 0);
  expect(alternatives?.[0].text.trim()).toBe("Ten of clubs.");
});

test("a recording is the same in whatever pieces it arrives", async () => {
  const bytes = await browserRecording();
  const pieces = Array.from({ length: Math.ceil(bytes.length / 97) }, (_, at) =>
    bytes.subarray(at * 97, (at + 1) * 97),
  );

  expect(samplesOf(await decodeRecording({ ...WEBM, chunks: pieces }))).toEqual(
    samplesOf(await decodeRecording({ ...WEBM, chunks: [bytes] })),
  );
});

test("PCM keeps its samples and its rate, and stereo becomes mono", async () => {
  const mono = await decodeRecording(pcm([1, -2, 3]));
  const stereo = await decodeRecording(pcm([100, 200, -100, -300], { channels: 2, sampleRate: 48_000 }));

  expect([samplesOf(mono), mono[0]?.sampleRate]).toEqual([[1, -2, 3], 16_000]);
  expect([samplesOf(stereo), stereo[0]?.sampleRate]).toEqual([[150, -200], 48_000]);
});

test("a recording is cut off after 15 seconds", async () => {
  const bytes = await browserRecording();
  const firstCluster = bytes.indexOf(Buffer.from("1f43b675", "hex"));
  const cluster = bytes.subarray(firstCluster);

  const webm = await decodeRecording({ ...WEBM, chunks: [bytes, ...Array.from({ length: 20 }, () => cluster)] });
  const raw = await decodeRecording(
    pcm(
      Array.from({ length: 20 * 8_000 }, () => 0),
      { sampleRate: 8_000 },
    ),
  );

  expect(secondsOf(webm)).toBeCloseTo(15, 0);
  expect(secondsOf(raw)).toBeCloseTo(15);
});

test.each([
  [{ mimeType: "video/mp4" }, "Audio of type video/mp4 is not supported"],
  [{ sampleRate: 4_000_000_000 }, "A sample rate of 4000000000 is not supported"],
  [{ sampleRate: Number.NaN }, "A sample rate of NaN is not supported"],
  [{ channels: 6 }, "Audio with 6 channels is not supported"],
])("audio in another format is refused: %o", async (format, message) => {
  await expect(decodeRecording(pcm([1], format))).rejects.toThrow(message);
});

test("damaged recordings end in frames or an error, and the next recording is decoded", async () => {
  const bytes = await browserRecording();
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 2_000 }), fc.nat(bytes.length), async (damage, at) => {
      const damaged = Buffer.concat([bytes.subarray(0, at), damage, bytes.subarray(at + damage.length)]);

      const decoded = await decodeRecording({ ...WEBM, chunks: [damaged] }).catch(() => []);

      expect(secondsOf(decoded)).toBeLessThan(15.2);
    }),
  );
  expect(secondsOf(await decodeRecording({ ...WEBM, chunks: [bytes] }))).toBeGreaterThan(2);
});
