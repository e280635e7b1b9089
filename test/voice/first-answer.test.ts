import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { reply, text } from "../../src/model-server/step.ts";
import { Participant } from "../support/participant.ts";
import { secondsOf, Speaker } from "../support/speaker.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

const QUESTION = "How is the weather?";
const ANSWER = "The sun is out in the north.";

beforeAll(() => warmUp(ANSWER));

/** Joins, subscribes to whatever the agent publishes, and waits for nothing. */
async function join({ agent }: VoiceAgent): Promise<Speaker> {
  return new Speaker(await Participant.join(agent.roomName, "user"));
}

async function leave(user: Speaker): Promise<void> {
  await user.close();
  await user.client.leave();
}

test.each([
  ["a packet", async ({ client }: Speaker) => void (await client.say(QUESTION))],
  [
    "lk.chat",
    async ({ client }: Speaker) => void (await client.room.localParticipant?.sendText(QUESTION, { topic: "lk.chat" })),
  ],
])("a participant who asks right after joining, by %s, hears the first answer from its beginning", async (_, ask) => {
  await using voice = await VoiceAgent.start();
  voice.agent.model.script([reply([text(ANSWER)])]);
  const user = await join(voice);

  await ask(user);

  await expect.poll(() => user.secondsHeard(), { timeout: 10_000 }).toBeGreaterThan(0.9 * (await secondsOf(ANSWER)));
  await leave(user);
});

test("a participant who returns to an empty room and asks immediately hears the answer from its beginning", async () => {
  await using voice = await VoiceAgent.start();
  voice.agent.model.script(() => reply([text(ANSWER)]));
  const user = await join(voice);
  await user.client.say(QUESTION);
  await user.untilHeard(0.9 * (await secondsOf(ANSWER)));
  await leave(user);

  const back = await join(voice);
  await back.client.say(QUESTION);

  await expect.poll(() => back.secondsHeard(), { timeout: 10_000 }).toBeGreaterThan(0.9 * (await secondsOf(ANSWER)));
  await leave(back);
});

test("a participant who joins while somebody listens, asks, and then subscribes hears the answer from its beginning", async () => {
  await using voice = await VoiceAgent.start();
  voice.agent.model.script(() => reply([text(ANSWER)]));
  const early = new Speaker(await Participant.join(voice.agent.roomName, "early"));
  await early.client.say(QUESTION);
  await early.untilHeard(0.9 * (await secondsOf(ANSWER)));
  await early.untilSilence();

  const client = await Participant.join(voice.agent.roomName, "late");
  await client.say(QUESTION);
  await sleep(200);
  const late = new Speaker(client);

  await expect.poll(() => late.secondsHeard(), { timeout: 10_000 }).toBeGreaterThan(0.9 * (await secondsOf(ANSWER)));
  await leave(late);
  await leave(early);
});

test("a participant who only reads and asks right after joining soon gets the words, later ones immediately, and nothing is spoken", async () => {
  await using voice = await VoiceAgent.start();
  voice.agent.model.script(() => reply([text(ANSWER)]));
  const reader = await Participant.join(voice.agent.roomName, "reader");

  const first = await reader.say(QUESTION);
  expect(await reader.answerTo(first, 4_000)).toBe(ANSWER);
  const second = await reader.say(QUESTION);
  expect(await reader.answerTo(second, 1_000)).toBe(ANSWER);

  expect(reader.all("start_answer").map(({ answerType }) => answerType)).toEqual(["text+voice", "text"]);
  await reader.leave();
});

test("a participant whose client says that it plays no sound gets the first answer immediately, as text", async () => {
  await using voice = await VoiceAgent.start();
  voice.agent.model.script(() => reply([text(ANSWER)]));
  const reader = await Participant.join(voice.agent.roomName, "reader");
  await reader.send({ type: "configuration", body: { features: [], tools: [], listens: false } });

  const question = await reader.say(QUESTION);
  expect(await reader.answerTo(question, 1_000)).toBe(ANSWER);

  expect(reader.all("start_answer").map(({ answerType }) => answerType)).toEqual(["text"]);
  await reader.leave();
});
