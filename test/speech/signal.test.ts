import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { OnnxGraph } from "../../src/speech/voice/network/onnx-graph.ts";
import { BINS, HOP } from "../../src/speech/voice/sound/frames.ts";
import { type Spectrum, Synthesizer } from "../../src/speech/voice/sound/synthesize.ts";
import { FixedNoise } from "./fixed-noise.ts";

const FRAMES = 41;

function rows(value: (bin: number, frame: number) => number): Float32Array {
  return Float32Array.from({ length: BINS * FRAMES }, (_, at) => value(Math.floor(at / FRAMES), at % FRAMES));
}

const spectrum: Spectrum = {
  lh: rows((bin, frame) => -3 - bin / 150 + Math.sin(frame / 5)),
  theta: rows((bin, frame) => Math.sin(bin / 37 + frame / 3)),
  ln: rows((bin) => -6 + Math.cos(bin / 90)),
  lr: rows((bin, frame) => -5 - bin / 200 + Math.sin(frame / 7)),
  phi: rows((bin, frame) => bin * 0.7 + frame * 1.3),
};
const pitch = Float32Array.from({ length: FRAMES }, (_, frame) =>
  frame % 20 < 14 ? 180 + 60 * Math.sin(frame / 6) : 0,
);

/** Returns some frames of the spectrum. */
function piece(from: number, to: number): Spectrum {
  const cut = (values: Float32Array) => values.filter((_, at) => at % FRAMES >= from && at % FRAMES < to);
  const { lh, theta, ln, lr, phi } = spectrum;
  return { lh: cut(lh), theta: cut(theta), ln: cut(ln), lr: cut(lr), phi: cut(phi) };
}

const wholeSound = () => new Synthesizer(new FixedNoise().fill).begin(pitch)(spectrum);

test("a spectrum becomes the same sound as in the original", async () => {
  const { signal } = JSON.parse(await readFile(join(import.meta.dirname, "samples.json"), "utf8")) as {
    signal: { every: number; samples: number[] };
  };

  const sound = wholeSound();

  const found = signal.samples.map((_, at) => sound[at * signal.every] ?? Number.NaN);
  expect(sound).toHaveLength(FRAMES * HOP);
  expect(Math.max(...found.map((sample, at) => Math.abs(sample - (signal.samples[at] ?? 0))))).toBeLessThan(2e-6);
});

test("sound made piece by piece is the same, sample for sample", () => {
  const convert = new Synthesizer(new FixedNoise().fill).begin(pitch);
  const pieces = [convert(piece(0, 2)), convert(piece(2, 12)), convert(piece(12, FRAMES))];

  expect(pieces.map(({ length }) => length / HOP)).toEqual([0, 10, FRAMES - 10]);
  expect(pieces.flatMap((samples) => [...samples])).toEqual([...wholeSound()]);
});

test("a file that is not an ONNX model is refused", () => {
  expect(() => OnnxGraph.parse(new Uint8Array(100))).toThrow("the voice's file is not an ONNX model");
});
