import { setTimeout as sleep } from "node:timers/promises";
import { AudioFrame } from "@livekit/rtc-node";
import { expect, test } from "vitest";
import { resampleMono } from "../src/livekit/audio-frame.ts";
import { reply, text } from "../src/model-server/step.ts";
import { EndOfTurnModel } from "../src/speech/turn-end/end-of-turn-model.ts";
import { fetchSpeechFiles, SPEECH_PARTS } from "../src/speech/speech-files.ts";
import { loudBlocks, SPEECH_RATE } from "../src/testing/stage/speaker.ts";
import { EmbeddedRecognizer } from "../src/voice/providers/embedded/embedded-recognizer.ts";
import { EmbeddedVoice } from "../src/voice/providers/embedded/embedded-voice.ts";
import { EspeakSynthesizer, findEspeak } from "../src/voice/providers/espeak/espeak-synthesizer.ts";
import { piecesOf, type Synthesizer } from "../src/voice/providers/synthesizer.ts";
import { VoiceAgent, warmUp } from "../test/support/voice-agent.ts";
import { measureKeyterms } from "./speech/keyterms.ts";
import { installOtherRecognizers, OTHER_RECOGNIZERS, recognizeElsewhere } from "./speech/other-recognizers.ts";
import { fetchRecordings, type Recording, withNoise } from "./speech/recordings.ts";
import { WordErrors } from "./speech/word-errors.ts";
import { today } from "./report/marked-places.ts";
import { recordVoice, type Spread } from "./report/voice-record.ts";

const RATE = 16_000;
const CACHE = ".cache";
const NOISE_DB = 10;
/** Sentences of typical answers. */
const SENTENCES = [
  "Sure, one moment.",
  "Your flight leaves at 9:30 tomorrow morning from gate 12.",
  "I found three restaurants near you, and two of them are open now.",
  "The weather in Berlin is cloudy, with a high of 17 degrees.",
  "I have changed the file and all tests pass.",
  "Would you like me to send the message to Maria?",
  "Please tell me your order number, and I will look it up.",
  "That costs twenty four dollars and fifty cents in total.",
  "The meeting was moved to Thursday afternoon, so you have the morning free.",
  "Sorry, I did not hear that.",
  "The library opens at eight and closes at six in the evening.",
  "I could not reach the server, but I will try again in a minute.",
  "There are about two hundred people waiting for the train.",
  "She wrote a long letter to her brother about the garden.",
  "Press the green button twice and wait until the light turns blue.",
  "Here is a short summary of what we have decided today.",
];

test("how well the embedded models understand people, and are understood", async () => {
  await fetchSpeechFiles(`${CACHE}/speech`, SPEECH_PARTS, console.log);
  const recordings = await fetchRecordings();
  const recognizer = await EmbeddedRecognizer.load({ PARLEY_CACHE_DIR: CACHE });
  const voice = await EmbeddedVoice.load({ PARLEY_CACHE_DIR: CACHE }, undefined);
  const espeak = await findEspeak(process.env);
  if (!espeak) throw new Error("No espeak-ng");
  const machine = new EspeakSynthesizer(espeak, "en");
  await warmUp();

  const quiet = await recognizeAll(recognizer, recordings);
  const noisy = await recognizeAll(recognizer, noisyOf(recordings));
  const room = await recognizeInRoom(recognizer, recordings);
  const spoken = await speakAll(voice, recognizer);
  const robotic = await speakAll(machine, recognizer);
  await Promise.all([recognizer.close(), voice.close(), machine.close()]);

  const recognized = { quiet, noisy, room };
  const voices = { embedded: spoken, espeak: robotic };
  console.log(JSON.stringify({ recordings: recordings.length, recognized, voices }, undefined, 2));
  await recordVoice({ speech: { at: today(), recordings: recordings.length, recognized, voices } });
  expect(recordings.length).toBeGreaterThan(20);
}, 900_000);

test("how many names are recognized without and with `voice.keyterms`", async () => {
  await fetchSpeechFiles(`${CACHE}/speech`, SPEECH_PARTS, console.log);
  const recognizer = await EmbeddedRecognizer.load({ PARLEY_CACHE_DIR: CACHE });
  const voice = await EmbeddedVoice.load({ PARLEY_CACHE_DIR: CACHE }, undefined);
  const figures = await measureKeyterms(recognizer, voice);
  await Promise.all([recognizer.close(), voice.close()]);

  console.log(JSON.stringify(figures));
  await recordVoice({ keyterms: { at: today(), ...figures } });
  expect(figures.right.with).toBeGreaterThan(figures.right.without);
}, 900_000);

test("how well other recognizers that run without a network understand the same recordings", async () => {
  await installOtherRecognizers();
  const recordings = await fetchRecordings();
  const recognizer = await EmbeddedRecognizer.load({ PARLEY_CACHE_DIR: CACHE });
  const own = await recognizeAll(recognizer, recordings);
  const noisy = await recognizeAll(recognizer, noisyOf(recordings));
  await recognizer.close();

  const figures = new Map([["embedded", { wrong: own.wrong, noisyWrong: noisy.wrong, meanMs: own.meanMs }]]);
  for (const name of OTHER_RECOGNIZERS) {
    const quiet = await recognizeElsewhere(name, recordings);
    const { wrong } = await recognizeElsewhere(name, noisyOf(recordings));
    figures.set(name, { ...quiet, noisyWrong: wrong });
  }
  console.log(JSON.stringify([...figures], undefined, 2));
  await recordVoice({ recognizers: { at: today(), figures: Object.fromEntries(figures) } });
  expect(figures.size).toBe(3);
}, 900_000);

function noisyOf(recordings: readonly Recording[]): Recording[] {
  return recordings.map((each) => ({ ...each, samples: withNoise(each.samples, NOISE_DB) }));
}

/** Recognizes each recording as a whole. Returns the share of wrong words, and how long the recognizer took. */
async function recognizeAll(recognizer: EmbeddedRecognizer, recordings: readonly Recording[]) {
  const errors = new WordErrors();
  const times: number[] = [];
  for (const { name, samples, words } of recordings) {
    const startedAt = performance.now();
    const { alternatives } = await recognizer.recognize(new AudioFrame(samples, RATE, 1, samples.length));
    times.push(performance.now() - startedAt);
    const wrong = errors.add(words, alternatives?.[0].text ?? "");
    if (wrong > 0) console.log(`${name}: ${words} → ${alternatives?.[0].text}`);
  }
  const seconds = recordings.reduce((sum, { samples }) => sum + samples.length / RATE, 0);
  const totalMs = times.reduce((sum, ms) => sum + ms, 0);
  return {
    wrong: errors.share,
    ms: spread(times),
    meanMs: Math.round(totalMs / recordings.length),
    realTimeFactor: totalMs / 1_000 / seconds,
  };
}

/** Plays each recording into a room. Times are in ms since the last sound of the recording. */
async function recognizeInRoom(recognizer: EmbeddedRecognizer, recordings: readonly Recording[]) {
  await using agent = await VoiceAgent.start({ stt: recognizer, endOfTurnModel: await EndOfTurnModel.load() });
  const user = await agent.speaker("user");
  const { client } = user;
  agent.agent.model.script(() => reply([text("It is ten past two. And the sun is out.")], { chunking: 8 }));
  const errors = new WordErrors();
  const [known, heard]: [number[], number[]] = [[], []];
  for (const { name, samples, words } of recordings) {
    const speech = resampleMono(samples, RATE, SPEECH_RATE);
    const loud = loudBlocks(speech);
    const before = client.all("transcription").length;
    const transcripts = () => client.all("transcription").slice(before);
    const spoken = new AbortController();
    const knownAt = untilFinal(transcripts, spoken.signal);
    const { to } = await user.play(speech);
    const end = to - (loud.length - 1 - loud.lastIndexOf(true)) * 10;
    const sound = await user.untilSound(end, 8_000).catch(() => undefined);
    await user.untilSilence(1_500);
    spoken.abort();
    const said = transcripts()
      .filter(({ final }) => final)
      .map((each) => each.text)
      .join(" ");
    if (errors.add(words, said) > 0) console.log(`in a room, ${name}: ${words} → ${said}`);
    if (sound !== undefined) heard.push(sound - end);
    const at = await knownAt;
    if (at !== undefined) known.push(at - end);
  }
  return { wrong: errors.share, knownMs: spread(known), heardMs: spread(heard) };
}

/**
 * Waits for the final transcript. Resolves to the time when the transcript's text last changed, because all words were
 * known from then on.
 */
async function untilFinal(
  transcripts: () => readonly { readonly text: string; readonly final: boolean }[],
  signal: AbortSignal,
): Promise<number | undefined> {
  let [count, text, changedAt] = [0, "", undefined as number | undefined];
  while (!signal.aborted) {
    const known = transcripts();
    const newest = known.at(-1);
    if (newest && known.length > count && newest.text !== text) changedAt = performance.now();
    [count, text] = [known.length, newest?.text ?? ""];
    if (newest?.final) return changedAt;
    await sleep(5);
  }
  return changedAt;
}

/** Speaks each sentence, and passes the sound to the recognizer. */
async function speakAll(synthesizer: Synthesizer, recognizer: EmbeddedRecognizer) {
  const errors = new WordErrors();
  const firsts: number[] = [];
  let [seconds, ms] = [0, 0];
  const { signal } = new AbortController();
  for (const sentence of ["Hello.", ...SENTENCES]) {
    const startedAt = performance.now();
    const frames: AudioFrame[] = [];
    let first: number | undefined;
    for await (const frame of synthesizer.speak(piecesOf(sentence), { language: "en", signal })) {
      first ??= performance.now() - startedAt;
      frames.push(frame);
    }
    // The first sentence only warms up the synthesizer.
    if (sentence === "Hello.") continue;
    ms += performance.now() - startedAt;
    seconds += frames.reduce((sum, { samplesPerChannel, sampleRate }) => sum + samplesPerChannel / sampleRate, 0);
    firsts.push(first ?? 0);
    const { alternatives } = await recognizer.recognize(frames);
    if (errors.add(sentence, alternatives?.[0].text ?? "") > 0) console.log(`${sentence} → ${alternatives?.[0].text}`);
  }
  return { wrong: errors.share, firstMs: spread(firsts), realTimeFactor: ms / 1_000 / seconds };
}

function spread(values: readonly number[]): Spread {
  const sorted = values.map(Math.round).toSorted((a, b) => a - b);
  return [sorted[0] ?? 0, sorted[Math.floor(sorted.length / 2)] ?? 0, sorted.at(-1) ?? 0];
}
