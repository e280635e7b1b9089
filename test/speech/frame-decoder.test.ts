import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FEATURES, FrameDecoder } from "../../src/speech/voice/network/frame-decoder.ts";
import { floats, Model } from "../../src/speech/voice/network/model.ts";
import { OnnxGraph } from "../../src/speech/voice/network/onnx-graph.ts";
import { BINS } from "../../src/speech/voice/sound/frames.ts";
import { RUNTIME, VOICE_FOLDER } from "./onnx-runtime.ts";

const row = (values: Float32Array, bin: number) => {
  const frames = values.length / BINS;
  return [...values.subarray(bin * frames, (bin + 1) * frames)];
};

test("frames decoded piece by piece are those that the whole network computes at once", async () => {
  const graph = OnnxGraph.parse(await readFile(join(VOICE_FOLDER, "hibari.onnx")));
  const network = await Model.load(RUNTIME, graph.part(["ids", "speed"], [FEATURES, "lh"]));
  const decoder = await FrameDecoder.load(RUNTIME, graph);
  const whole = await network.run({ ids: [0, 50, 83, 54, 156, 57, 135, 16, 65, 156, 102, 54, 46, 4, 0], speed: 1 });

  const pieces = await Array.fromAsync(decoder.decode(floats(whole, FEATURES), 0));

  const lengths = pieces.map(({ lh }) => lh.length / BINS);
  expect(lengths.slice(0, 2)).toEqual([10, 32]);
  for (const bin of [5, 50, 300]) {
    const expected = row(floats(whole, "lh"), bin);
    const found = pieces.flatMap(({ lh }) => row(lh, bin));
    const differences = found.map((value, at) => Math.abs(value - (expected[at] ?? Number.NaN)));
    expect(found).toHaveLength(expected.length);
    // Values are logarithms of loudness. Each piece is rounded to 8 bits on its own scale.
    expect(differences.reduce((sum, value) => sum + value, 0) / differences.length).toBeLessThan(0.15);
  }
});
