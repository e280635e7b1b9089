import { beforeAll, expect, test } from "vitest";
import { billed } from "../session/spending/billed.ts";
import { secondsOf } from "../support/speaker.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

const LOW = "We are close to the end of our budget for this talk.";
const LONG = "One two three four five six seven eight nine ten eleven twelve. Then we count again from the start.";
const QUESTION = "Hold on, what about the weather tomorrow?";

beforeAll(() => warmUp(QUESTION));

/**
 * Asks a question that costs `input` tokens, in a session that has used `spent` of its budget of 1,000 tokens. Returns
 * how many seconds of sound follow.
 */
async function heardWith(spent: number, input: number): Promise<number> {
  await using voice = await VoiceAgent.start({ policy: { budget: { session: { tokens: 1_000 } } } });
  const { agent } = voice;
  const user = await voice.speaker("user");
  await agent.sql`
    insert into spending select 'session', id, current_date, 'claude-test', 'step', 1, ${spent}, 0, 0, 0, 0 from sessions
  `;
  agent.model.script([billed("Yes.", { input, output: 10 })]);
  const asked = performance.now();
  await user.client.say("Is it?");
  await user.untilSound(asked);
  await user.client.next("assistant_sentence", ({ isFinal }) => isFinal, 20_000);
  await user.untilSilence();
  return user.secondsHeard(asked);
}

test("the warning that a budget is nearly used up is spoken after the answer", async () => {
  const warning = await secondsOf(LOW);

  expect(await heardWith(500, 350)).toBeGreaterThan(0.6 * warning);
});

test("a warning that an interruption cut off is repeated after the next answer", async () => {
  await using voice = await VoiceAgent.start({ policy: { budget: { session: { tokens: 1_000 } } } });
  const { agent } = voice;
  const user = await voice.speaker("user");
  agent.model.script([billed(LONG, { input: 800, output: 50 }), billed("Sunny.", { input: 10, output: 10 })]);
  await user.client.say("Count, please.");
  await user.untilHeard(1);

  voice.understand(QUESTION);
  await user.say(QUESTION);

  await user.client.next("assistant_sentence", ({ text }) => text === "Sunny.");
  await user.client.next("assistant_sentence", ({ text }) => text === LOW);
  expect(user.client.all("assistant_sentence").filter(({ text }) => text === LOW)).toHaveLength(1);
});

test("the message that a budget is used up is spoken in place of an answer", async () => {
  const end = await secondsOf("I have to stop here: the budget for this talk is used up.");

  expect(await heardWith(1_000, 0)).toBeGreaterThan(0.6 * end);
});
