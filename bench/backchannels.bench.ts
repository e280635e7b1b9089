import { AudioFrame } from "@livekit/rtc-node";
import { expect, test } from "vitest";
import { resampleMono } from "../src/livekit/audio-frame.ts";
import { fetchSpeechFiles, SPEECH_PARTS } from "../src/speech/speech-files.ts";
import { Backchannels } from "../src/voice/listen/backchannels.ts";
import { EmbeddedRecognizer } from "../src/voice/providers/embedded/embedded-recognizer.ts";
import { EmbeddedVoice } from "../src/voice/providers/embedded/embedded-voice.ts";
import { synthesize } from "../src/testing/stage/speaker.ts";
import { withNoise } from "./speech/recordings.ts";

const RATE = 16_000;
const CACHE = ".cache";
/** A voice that is played faster is higher, as another speaker's would be. */
const SPEEDS = [0.85, 0.92, 1, 1.08, 1.15];
const NOISE_DB = 20;
/** What people say while they listen. */
const LISTENING = (
  "Mm-hmm.|Uh-huh.|Yeah.|Yes.|Yep.|Okay.|Right.|Sure.|I see.|Got it.|Oh.|Really?|Great.|All right.|Go on.|Okay, got it.|" +
  "Yeah, sure.|Yes, yes.|Cool.|Of course."
).split("|");
/** What people say when they want to speak. */
const SPEAKING = (
  "Stop.|Wait.|Hold on.|No, no.|Stop it, please.|Wait a second.|Never mind.|Cancel that.|What?|Excuse me.|That is wrong.|" +
  "Can you repeat that?|Not that one.|How much is it?|Yes, but not today.|Okay, stop.|I have a question.|Let me think.|" +
  "Be quiet.|The other one."
).split("|");

/** Prints how many backchannels would interrupt the agent, and how many interruptions would not. */
test("how many backchannels interrupt, and how many interruptions do not", async () => {
  await fetchSpeechFiles(`${CACHE}/speech`, SPEECH_PARTS, console.log);
  const recognizer = await EmbeddedRecognizer.load({ PARLEY_CACHE_DIR: CACHE });
  const voice = await EmbeddedVoice.load({ PARLEY_CACHE_DIR: CACHE }, undefined);
  const backchannels = new Backchannels({});
  // Sound without words does not interrupt, either.
  const interrupts = (words: string) => words !== "" && !backchannels.has(words, "en");
  const understand = async (said: string): Promise<string[]> => {
    const speech = await synthesize(voice, said);
    const heard = SPEEDS.map((speed) => atSpeed(speech, speed)).flatMap((each) => [each, withNoise(each, NOISE_DB)]);
    const words: string[] = [];
    for (const samples of heard)
      words.push((await recognizer.transcribe([new AudioFrame(samples, RATE, 1, samples.length)], {})) ?? "");
    return words;
  };

  const wrong = await wrongOf(LISTENING, understand, (words) => interrupts(words));
  const missed = await wrongOf(SPEAKING, understand, (words) => !interrupts(words));

  await Promise.all([recognizer.close(), voice.close()]);
  console.log(`${wrong.count} of ${wrong.all} backchannels interrupt: ${wrong.examples.join("; ")}`);
  console.log(`${missed.count} of ${missed.all} interruptions do not: ${missed.examples.join("; ")}`);
  expect(wrong.all + missed.all).toBe((LISTENING.length + SPEAKING.length) * SPEEDS.length * 2);
}, 600_000);

async function wrongOf(
  phrases: readonly string[],
  understand: (said: string) => Promise<string[]>,
  isWrong: (words: string) => boolean,
) {
  const examples: string[] = [];
  let all = 0;
  for (const said of phrases)
    for (const words of await understand(said)) {
      all += 1;
      if (isWrong(words)) examples.push(`${said} → ${words}`);
    }
  return { all, count: examples.length, examples };
}

function atSpeed(speech: Int16Array, speed: number): Int16Array {
  return resampleMono(speech, Math.round(RATE * speed), RATE);
}
