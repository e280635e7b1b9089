import { setTimeout as sleep } from "node:timers/promises";
import type { tts } from "@livekit/agents";
import { reply, text } from "../../src/model-server/step.ts";
import type { Synthesizer } from "../../src/voice/providers/synthesizer.ts";
import { timesOf } from "./servers/voice-server.ts";
import { VoiceAgent } from "./voice-agent.ts";

const INTERRUPTION = "Hold on, I would like to know what the weather is going to be like tomorrow in the east.";
const ANSWER_MS = 60_000;

/** Sentences with long numbers. A voice takes much longer for a number than for a word of the same length. */
export const NUMBERS = [
  "The first number is 1234567890123.",
  "The second one is 9876543210987.",
  "Yes.",
  "The third and last one is 1029384756123.",
  "Thank you for listening so patiently to all of these numbers.",
];

/** The plugins that receive their text as a stream, with a `VoiceServer` as their provider. */
export const STREAMING_VOICES: readonly [name: string, load: (url: string) => Promise<tts.TTS>][] = [
  [
    "Cartesia",
    async (baseUrl) => new (await import("@livekit/agents-plugin-cartesia")).TTS({ apiKey: "test", baseUrl }),
  ],
  [
    "ElevenLabs",
    async (baseURL) => new (await import("@livekit/agents-plugin-elevenlabs")).TTS({ apiKey: "test", baseURL }),
  ],
  [
    "Deepgram",
    async (baseUrl) => new (await import("@livekit/agents-plugin-deepgram")).TTS({ apiKey: "test", baseUrl }),
  ],
];

/**
 * Makes the agent speak an answer with the `VoiceServer` as its voice. Returns the delay in ms from the start of each
 * sentence's sound until the sentence was shown.
 */
export async function captionsLateMs(
  synthesizer: Synthesizer,
  sentences: readonly string[],
): Promise<readonly number[]> {
  await using voice = await VoiceAgent.start({ wrap: () => synthesizer });
  const { words } = timesOf(sentences.join(" "));
  const shownMs = await shownAfterSound(voice, sentences);
  const firstStart = words[0]?.start ?? 0;
  let word = 0;
  return sentences.map((sentence, index) => {
    const start = ((words[word]?.start ?? 0) - firstStart) * 1_000;
    word += sentence.split(" ").length;
    return Math.round((shownMs[index] ?? 0) - start);
  });
}

/** Makes the agent speak an answer. Returns when each sentence was shown, in ms after the first sound. */
export async function shownAfterSound(voice: VoiceAgent, sentences: readonly string[]): Promise<readonly number[]> {
  const user = await voice.speaker("user");
  voice.agent.model.script([reply([text(sentences.join(" "))])]);
  const asked = performance.now();
  await user.client.say("Which numbers?");
  const shownAt: number[] = [];
  for (const sentence of sentences) {
    await user.client.next("assistant_sentence", ({ text: said }) => said === sentence, ANSWER_MS);
    shownAt.push(performance.now());
  }
  const began = await user.untilSound(asked);
  return shownAt.map((at) => at - began);
}

export interface CutAnswer {
  /** The number of words stored as heard. */
  readonly stored: number;
  /** The number of words that the participant heard completely. */
  readonly heard: number;
}

/**
 * Interrupts an answer `afterMs` after its first sound, and compares the words stored as heard with those really heard.
 */
export async function cutAnswer(
  synthesizer: Synthesizer,
  sentences: readonly string[],
  afterMs: number,
): Promise<CutAnswer> {
  await using voice = await VoiceAgent.start({ wrap: () => synthesizer });
  const user = await voice.speaker("user");
  const whole = sentences.join(" ");
  voice.agent.model.script([reply([text(whole)]), reply([text("Sunny.")])]);
  const asked = performance.now();
  await user.client.say("Which numbers?");
  const began = await user.untilSound(asked, ANSWER_MS);
  voice.understand("And the weather?");
  await sleep(began + afterMs - performance.now());
  const { from } = await user.say(INTERRUPTION);
  await user.client.next("assistant_sentence", ({ text: said }) => said === "Sunny.", ANSWER_MS);
  const [turn] = await voice.agent.sql<{ heard: string }[]>`select heard from turns where heard is not null`;
  const words = timesOf(whole).words;
  // The interrupted answer's sound ends within half a second, and the next answer starts later. So its last sound is
  // the last one within a second.
  const seconds = (user.lastSoundBefore(from + 1_000) - began) / 1_000;
  return {
    stored: turn?.heard.match(/\S+/gu)?.length ?? 0,
    heard: words.filter(({ end }) => end <= seconds).length,
  };
}
