import { expect, test } from "vitest";
import { missingSpeech, type SpeechChoice } from "../../../src/voice/providers/speech-choice.ts";

const NOTHING: SpeechChoice = {
  stt: "none",
  sttModel: undefined,
  sttLanguage: undefined,
  sttBaseUrl: undefined,
  tts: "none",
  ttsModel: undefined,
  ttsVoice: undefined,
  ttsBaseUrl: undefined,
  keys: {},
  hasOwnLivekit: true,
};

test("without a provider, or with espeak, nothing is missing", () => {
  expect([missingSpeech(NOTHING), missingSpeech({ ...NOTHING, tts: "espeak" })]).toEqual([[], []]);
});

test.each([
  ["deepgram", "DEEPGRAM_API_KEY"],
  ["openai", "OPENAI_API_KEY"],
  ["cartesia", "CARTESIA_API_KEY"],
  ["elevenlabs", "ELEVEN_API_KEY"],
] as const)("%s needs its key for listening and speaking", (name, key) => {
  const choice = { ...NOTHING, stt: name, tts: name };
  expect(missingSpeech(choice)).toEqual([`${key}: a key for STT=${name}`, `${key}: a key for TTS=${name}`]);
  expect(missingSpeech({ ...choice, keys: { [key]: "k" } })).toEqual([]);
});

test("a self-hosted server with OpenAI's API needs no key", () => {
  expect(missingSpeech({ ...NOTHING, stt: "openai", sttBaseUrl: "http://127.0.0.1:9000/v1" })).toEqual([]);
});

test("LiveKit's inference needs LiveKit Cloud", () => {
  const choice = { ...NOTHING, stt: "livekit" } as const;
  expect(missingSpeech(choice)[0]).toMatch(/^LIVEKIT_URL/);
  expect(missingSpeech({ ...choice, hasOwnLivekit: false })).toEqual([]);
});
