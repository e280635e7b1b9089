import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { Voice } from "../../src/speech/voice/voice.ts";
import { FixedNoise } from "./fixed-noise.ts";
import { NODE_RUNTIME, RUNTIME, VOICE_FOLDER } from "./onnx-runtime.ts";

// The output of hibari-tts 0.2.1 for these texts, recorded once with its Python code.
const read = async (name: string): Promise<unknown> =>
  JSON.parse(await readFile(join(import.meta.dirname, name), "utf8"));
const phonemes = Object.entries((await read("phonemes.json")) as Record<string, string[]>);
const { sentences } = (await read("samples.json")) as {
  sentences: { text: string; length: number; every: number; samples: number[] }[];
};

describe("the embedded voice", () => {
  const noise = new FixedNoise();
  let voice: Voice;

  beforeAll(async () => {
    voice = await Voice.load(VOICE_FOLDER, RUNTIME, noise.fill);
  });

  test("a thousand sentences have the same phonemes as in the original", async () => {
    const different: string[] = [];
    for (const [text, expected] of phonemes) {
      const found = await voice.phonemes(text);
      if (found.join("|") !== expected.join("|")) different.push(text);
    }

    expect(phonemes.length).toBeGreaterThanOrEqual(1000);
    expect(different).toEqual([]);
  });

  // onnxruntime-node computes the same samples as Python's runtime. In wasm, the phases drift apart: the voice is the
  // same, but the samples differ.
  test.skipIf(!NODE_RUNTIME).each(sentences)(
    "«$text» sounds like the original",
    async ({ text, length, every, samples }) => {
      noise.restart();

      const speech = await voice.speak(text);

      const differences = samples.map((sample, at) => Math.abs(sample - (speech.samples[at * every] ?? 0)));
      expect(speech.samples).toHaveLength(length);
      expect(Math.max(...differences)).toBeLessThan(1e-3);
    },
  );

  test("each written word has its time, even if it is read as several", async () => {
    const { words, samples, sampleRate } = await voice.speak("Mr. Lee paid $24.50 at 9:30 pm — gladly.");

    const written = ["Mr.", "Lee", "paid", "$24.50", "at", "9:30", "pm", "—", "gladly."];
    const times = words.flatMap((word) => [word.startMs, word.endMs]);
    expect(words.map((word) => word.text)).toEqual(written);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(words.filter((word) => word.endMs - word.startMs < 25).map((word) => word.text)).toEqual(["—"]);
    expect(times.at(-1)).toBeLessThanOrEqual((samples.length / sampleRate) * 1000);
  });

  test("words in a second sentence come after those in the first", async () => {
    const { words } = await voice.speak("Hello there. Goodbye now.");

    const [, there, goodbye] = words;
    expect(goodbye?.startMs).toBeGreaterThan(there?.endMs ?? Infinity);
  });

  test("a text without a sound produces no samples", async () => {
    expect(await voice.speak(" \n")).toEqual({ samples: new Float32Array(), sampleRate: 24_000, words: [] });
  });

  test("a number too long to have a name is read digit by digit", async () => {
    expect(await voice.phonemes("1".repeat(40))).toEqual([Array(40).fill("wˈʌn").join(" ")]);
  });

  test("words that are properties of every object are read like any other", async () => {
    expect(await voice.phonemes("constructor")).toEqual(["kənstɹˈʌktəɹ"]);
  });
});
