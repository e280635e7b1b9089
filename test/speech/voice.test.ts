import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { Voice } from "../../src/speech/voice/voice.ts";
import { HOP } from "../../src/speech/voice/sound/frames.ts";
import { wholeSpeech } from "../support/whole-speech.ts";
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

  // onnxruntime-node computes nearly the same samples as Python's runtime, except that each piece is rounded to 8 bits on
  // its own scale. In wasm, the phases drift apart: the voice is the same, but the samples differ.
  test.skipIf(!NODE_RUNTIME).each(sentences)(
    "«$text» sounds like the original, without its silence at the beginning",
    async ({ text, length, every, samples }) => {
      noise.restart();
      const skipped = length - (await wholeSpeech(voice.speak(text))).samples.length;
      noise.restart(skipped / HOP);

      const speech = await wholeSpeech(voice.speak(text));

      const energyOf = (values: number[]) => values.reduce((sum, value) => sum + value ** 2, 0);
      const found = samples.map((_, at) => speech.samples[at * every - skipped] ?? 0);
      const differences = samples.map((sample, at) => sample - (found[at] ?? 0));
      expect(energyOf(differences)).toBeLessThan(energyOf(samples) / 100);
    },
  );

  test("each written word has its time, even if it is read as several", async () => {
    const { words, samples, sampleRate } = await wholeSpeech(voice.speak("Mr. Lee paid $24.50 at 9:30 pm — gladly."));

    const written = ["Mr.", "Lee", "paid", "$24.50", "at", "9:30", "pm", "—", "gladly."];
    const times = words.flatMap((word) => [word.startMs, word.endMs]);
    const seconds = samples.length / sampleRate;
    expect(words.map((word) => word.text)).toEqual(written);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(words.filter((word) => word.endMs - word.startMs < 25).map((word) => word.text)).toEqual(["—"]);
    expect(times.at(-1)).toBeLessThanOrEqual(seconds * 1000);
    expect(times.at(-1)).toBeGreaterThan(seconds * 1000 - 500);
  });

  test("a sentence begins with 100 ms of sound, before the rest of it is computed", async () => {
    const pieces = await Array.fromAsync(voice.speak("I found three restaurants near you."));

    const lengths = pieces.map(({ samples, sampleRate }) => (samples.length / sampleRate) * 1_000);
    expect(lengths.slice(0, 3)).toEqual([100, 400, 400]);
    expect(pieces.flatMap(({ words }, at) => words.map(() => at))).toEqual([0, 0, 0, 0, 0, 0]);
  });

  test("words in a second sentence come after those in the first", async () => {
    const { words } = await wholeSpeech(voice.speak("Hello there. Goodbye now."));

    const [, there, goodbye] = words;
    expect(goodbye?.startMs).toBeGreaterThan(there?.endMs ?? Infinity);
  });

  test("a text without a sound produces no samples", async () => {
    expect(await Array.fromAsync(voice.speak(" \n"))).toEqual([]);
  });

  test("a number too long to have a name is read digit by digit", async () => {
    expect(await voice.phonemes("1".repeat(40))).toEqual([Array(40).fill("wˈʌn").join(" ")]);
  });

  test("words that are properties of every object are read like any other", async () => {
    expect(await voice.phonemes("constructor")).toEqual(["kənstɹˈʌktəɹ"]);
  });
});
