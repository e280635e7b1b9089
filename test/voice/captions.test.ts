import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { loudBlocks, SPEECH_RATE } from "../../src/testing/stage/speaker.ts";
import { reply, text } from "../../src/model-server/step.ts";
import { NUMBERS, shownAfterSound } from "../support/caption-times.ts";
import { speechOf } from "../support/speaker.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

const SOUND = "Hold on, I would like to know what the weather is going to be like tomorrow in the east.";

beforeAll(() => warmUp(SOUND, ...NUMBERS));

/** Returns when the sound of each sentence starts, in ms after the start of the first sentence's sound. */
async function beginnings(): Promise<number[]> {
  const starts: number[] = [];
  let samples = 0;
  for (const sentence of NUMBERS) {
    const speech = await speechOf(sentence);
    starts.push((samples / SPEECH_RATE) * 1_000 + loudBlocks(speech).indexOf(true) * 10);
    samples += speech.length;
  }
  return starts.map((start) => start - (starts[0] ?? 0));
}

// Speaking the answer takes half a minute.
test("each sentence is shown within half a second of the start of its sound", { timeout: 90_000 }, async () => {
  await using voice = await VoiceAgent.start();
  const shownMs = await shownAfterSound(voice, NUMBERS);
  const lateMs = (await beginnings()).map((start, index) => Math.round((shownMs[index] ?? 0) - start));
  // A text may also be early, because its path to the participant is shorter than that of the sound.
  expect(lateMs.filter((ms) => ms > 500 || ms < -500)).toEqual([]);
});

test("when an answer is cut off, no word counts as heard that was not", { timeout: 60_000 }, async () => {
  await using voice = await VoiceAgent.start();
  const user = await voice.speaker("user");
  voice.agent.model.script([reply([text(NUMBERS.join(" "))]), reply([text("Sunny.")])]);
  await user.client.say("Which numbers?");
  await user.client.next("assistant_sentence", ({ text: said }) => said === NUMBERS[1], 30_000);
  await sleep(1_500);
  voice.understand("And the weather?");
  await user.say(SOUND);
  await user.client.next("assistant_sentence", ({ text: said }) => said === "Sunny.", 20_000);
  const [turn] = await voice.agent.sql`select heard from turns where heard is not null`;
  expect(turn?.["heard"]).toMatch(/^The first number is 1234567890123\. The second one( is)?$/);
});
