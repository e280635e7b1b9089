import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addOutput } from "../../src/speech/voice/graph-output.ts";
import { BINS, HOP } from "../../src/speech/voice/sound/frames.ts";
import { Synthesizer } from "../../src/speech/voice/sound/synthesize.ts";
import { FixedNoise } from "./fixed-noise.ts";

const FRAMES = 41;

function rows(value: (bin: number, frame: number) => number): Float32Array {
  return Float32Array.from({ length: BINS * FRAMES }, (_, at) => value(Math.floor(at / FRAMES), at % FRAMES));
}

test("a spectrum becomes the same sound as in the original", async () => {
  const { signal } = JSON.parse(await readFile(join(import.meta.dirname, "samples.json"), "utf8")) as {
    signal: { every: number; samples: number[] };
  };

  const sound = new Synthesizer(new FixedNoise().fill).synthesize({
    lh: rows((bin, frame) => -3 - bin / 150 + Math.sin(frame / 5)),
    theta: rows((bin, frame) => Math.sin(bin / 37 + frame / 3)),
    ln: rows((bin) => -6 + Math.cos(bin / 90)),
    lr: rows((bin, frame) => -5 - bin / 200 + Math.sin(frame / 7)),
    phi: rows((bin, frame) => bin * 0.7 + frame * 1.3),
    f0: Float32Array.from({ length: FRAMES }, (_, frame) => (frame % 20 < 14 ? 180 + 60 * Math.sin(frame / 6) : 0)),
  });

  const found = signal.samples.map((_, at) => sound[at * signal.every] ?? Number.NaN);
  expect(sound).toHaveLength(FRAMES * HOP);
  expect(Math.max(...found.map((sample, at) => Math.abs(sample - (signal.samples[at] ?? 0))))).toBeLessThan(2e-6);
});

test("a file that is not an ONNX model is refused", () => {
  expect(() => addOutput(new Uint8Array(100), "durations")).toThrow("the voice's file is not an ONNX model");
});
