import { join } from "node:path";
import { readFile } from "node:fs/promises";
import { beforeAll, expect, test, vi } from "vitest";
import { reply, text } from "../../src/model-server/step.ts";
import { fetchSpeechFiles, RECOGNIZER_PARTS } from "../../src/speech/speech-files.ts";
import { EmbeddedRecognizer } from "../../src/voice/providers/embedded/embedded-recognizer.ts";
import { forFile } from "../support/lifetimes.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

// The model is loaded once, which takes seconds on a busy machine.
vi.setConfig({ hookTimeout: 180_000 });

const RATE = 16_000;
const WAV_HEADER_BYTES = 44;
const CACHE = join(import.meta.dirname, "../../.cache");

beforeAll(async () => {
  await fetchSpeechFiles(join(CACHE, "speech"), RECOGNIZER_PARTS, () => {});
  await warmUp();
});

const recognizer = forFile(async () => {
  const loaded = await EmbeddedRecognizer.load({ PARLEY_CACHE_DIR: CACHE });
  return Object.assign(loaded, { [Symbol.asyncDispose]: () => loaded.close() });
});

async function recording(name: string): Promise<Int16Array> {
  const file = await readFile(join(import.meta.dirname, `../fixtures/recordings/${name}.wav`));
  return new Int16Array(file.buffer.slice(file.byteOffset + WAV_HEADER_BYTES, file.byteOffset + file.length));
}

function joined(...parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const silence = (ms: number) => new Int16Array((ms * RATE) / 1_000);

test("what is said with a pause is one message, with the words of both parts", async () => {
  await using voice = await VoiceAgent.start({ stt: recognizer, settings: { endOfTurnMs: 1_500 } });
  const user = await voice.speaker("user");
  voice.agent.model.script(() => reply([text("Two cards.")]));
  const [ten, seven] = [await recording("ten-of-clubs"), await recording("seven-of-clubs")];

  await user.play(joined(ten, silence(600), seven, silence(2_500)));
  const { id, text: said } = await user.client.next("transcription", ({ final }) => final);

  expect(said.toLowerCase().replaceAll(/[^a-z ]/gu, "")).toBe("ten of clubs seven of clubs");
  expect(await user.client.answerTo(id)).toBe("Two cards.");
  const turns = await voice.agent.sql`select input from turns`;
  expect(turns).toEqual([{ input: [{ type: "text", text: said }] }]);
});

test("the sound around a short pause is heard once, and with its soft consonants", async () => {
  await using voice = await VoiceAgent.start({ stt: recognizer, settings: { endOfTurnMs: 1_500 } });
  const user = await voice.speaker("user");
  voice.agent.model.script(() => reply([text("Two cards.")]));
  const seven = await recording("seven-of-clubs");

  // The recording begins and ends with silence, so there is a short pause between the two.
  await user.play(joined(seven, seven, silence(2_500)));
  const { text: said } = await user.client.next("transcription", ({ final }) => final);

  expect(said.toLowerCase().replaceAll(/[^a-z ]/gu, "")).toBe("seven of clubs seven of clubs");
});

test("words are shown while they are spoken, unless that is turned off", async () => {
  const shown: number[] = [];
  for (const interimTranscripts of [true, false]) {
    await using voice = await VoiceAgent.start({ stt: recognizer, settings: { interimTranscripts } });
    const user = await voice.speaker("user");
    voice.agent.model.script(() => reply([text("Indeed.")]));
    await user.play(joined(await recording("he-was-not-an-ill-disposed-young-man"), silence(1_500)));
    await user.client.next("transcription", ({ final }) => final);
    shown.push(user.client.all("transcription").filter(({ final }) => !final).length);
  }

  // Without interim words, the client learns only at the pauses what was said.
  expect(shown[0]).toBeGreaterThan(shown[1] ?? 0);
});
