import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseWav } from "../../src/agent/wav.ts";

interface Format {
  readonly encoding?: number;
  readonly channels?: number;
  readonly sampleRate?: number;
  readonly bits?: number;
}

/** A WAV file with an unknown chunk of an odd length before its samples. */
function wav(samples: readonly number[], { encoding = 1, channels = 1, sampleRate = 16_000, bits = 16 }: Format = {}) {
  const format = Buffer.alloc(16);
  format.writeUInt16LE(encoding, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(sampleRate, 4);
  format.writeUInt16LE(bits, 14);
  const data = Buffer.from(Int16Array.from(samples).buffer);
  const chunks = [chunk("fmt ", format), chunk("LIST", Buffer.from("abc")), chunk("data", data)];
  return Buffer.concat([Buffer.from("RIFF\0\0\0\0WAVE"), ...chunks]);
}

function chunk(id: string, content: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(content.length);
  return Buffer.concat([Buffer.from(id), size, content, Buffer.alloc(content.length % 2)]);
}

test("a file's samples and their rate are read, whatever else the file contains", () => {
  expect(parseWav(wav([1, -2, 3]))).toEqual({ samples: Int16Array.of(1, -2, 3), sampleRate: 16_000 });
});

test("the channels are mixed into one", () => {
  expect(parseWav(wav([10, 20, -4, -8], { channels: 2 })).samples).toEqual(Int16Array.of(15, -6));
});

test("a real recording is read", () => {
  const { samples, sampleRate } = parseWav(readFileSync("test/fixtures/recordings/ten-of-clubs.wav"));

  expect(sampleRate).toBe(16_000);
  expect(samples.length).toBeGreaterThan(8_000);
});

test.each([
  ["is not a WAV file", Buffer.from("ID3 and other sounds"), "expected a WAV file"],
  ["is empty", Buffer.alloc(0), "expected a WAV file"],
  ["is cut off after its header", wav([1]).subarray(0, 20), "expected a WAV file"],
  ["is compressed", wav([1], { encoding: 85 }), "expected a WAV file with 16-bit PCM samples"],
  ["has 8 bits", wav([1], { bits: 8 }), "expected a WAV file with 16-bit PCM samples"],
  ["has no channel", wav([1], { channels: 0 }), "expected a WAV file with 16-bit PCM samples"],
  ["has no samples", wav([]), "expected a WAV file with samples"],
  ["is too fast", wav([1], { sampleRate: 96_000 }), "expected 8000 to 48000 samples per second, got 96000"],
])("a file that %s is refused", (_how, file, why) => {
  expect(() => parseWav(file)).toThrow(new TypeError(why));
});
