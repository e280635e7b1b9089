import { beforeAll, expect, test } from "vitest";
import type { MessageBody } from "../../src/protocol/messages/messages.ts";
import { reply, text } from "../../src/model-server/step.ts";
import { secondsOf, type Speaker } from "../support/speaker.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

const LONG =
  "The sun is out in the north, and nobody has seen a cloud since the day before yesterday. In the south it rains from morning to evening, as it does so often in this part of the country.";
const QUESTION = "Hold on, what about the weather tomorrow?";

beforeAll(() => warmUp(LONG, QUESTION));

const isOf = (event: MessageBody<"block_event">["event"]) => (body: MessageBody<"block_event">) => body.event === event;
const eventsOf = (user: Speaker) => user.client.all("block_event").map(({ event }) => event);
const turnsOf = ({ agent }: VoiceAgent) =>
  agent.sql<{ state: string; heard: string | null; isSpoken: boolean }[]>`
    select state, heard, spoken_at is not null as "isSpoken" from turns order by position`;

/** Starts a long answer. Resolves when the turn has ended and the agent has begun to speak the answer. */
async function startLongAnswer(voice: VoiceAgent): Promise<Speaker> {
  const user = await voice.speaker("user", { features: ["blocks"] });
  voice.agent.model.script([reply([text(LONG)]), reply([text("Sunny.")])]);
  await user.client.say("How is the weather?");
  await user.client.next("block_event", isOf("turn_complete"));
  await user.untilHeard(1);
  return user;
}

test("a turn ends when its answer is stored, while the answer is still being spoken", async () => {
  await using voice = await VoiceAgent.start();
  const user = await voice.speaker("user", { features: ["blocks"] });
  voice.agent.model.script([reply([text(LONG)])]);
  await user.client.say("How is the weather?");
  await user.client.next("block_event", isOf("block_stop"));
  const writtenAt = performance.now();

  const end = await user.client.next("block_event", isOf("turn_complete"));

  expect(performance.now() - writtenAt).toBeLessThan(1_000);
  expect(end).toMatchObject({ state: "completed" });
  expect(await turnsOf(voice)).toEqual([{ state: "completed", heard: null, isSpoken: false }]);
  await user.untilHeard(2);
  expect(eventsOf(user)).not.toContain("turn_spoken");
});

test("the end of the speech is reported when the last word was heard, and is stored by then", async () => {
  await using voice = await VoiceAgent.start();
  const user = await startLongAnswer(voice);

  const spoken = await user.client.next("block_event", isOf("turn_spoken"), 20_000);

  expect(await turnsOf(voice)).toEqual([{ state: "completed", heard: null, isSpoken: true }]);
  expect(user.secondsHeard()).toBeGreaterThan(0.9 * (await secondsOf(LONG)));
  expect(spoken).toEqual({
    event: "turn_spoken",
    turnId: expect.any(String),
    state: "completed",
    timings: expect.any(Object),
  });
  expect(eventsOf(user).slice(-2)).toEqual(["turn_complete", "turn_spoken"]);
});

test("speaking over an answer whose turn has ended cuts its speech off, and the model is shown what was heard", async () => {
  await using voice = await VoiceAgent.start();
  const user = await startLongAnswer(voice);
  voice.understand(QUESTION);
  await user.say(QUESTION);

  const { heard, state } = await user.client.next("block_event", isOf("turn_spoken"));

  expect(state).toBe("interrupted");
  await user.client.next("assistant_sentence", (sentence) => sentence.text === "Sunny.", 15_000);
  expect((await turnsOf(voice))[0]).toEqual({ state: "completed", heard, isSpoken: true });
  const shown = JSON.stringify(voice.agent.model.requests.at(-1)?.body["messages"]);
  expect(shown).toContain(JSON.stringify(heard?.trim()));
  expect(shown).toContain("[The previous reply was cut off while it was spoken");
  expect(LONG.startsWith(heard?.trim() ?? "?")).toBe(true);
  expect(heard?.length).toBeLessThan(0.75 * LONG.length);
});

test.each([
  ["all", "cancelled"],
  ["speech", "completed"],
] as const)("ControlStop of type %s ends the speech of a turn that ended as %s", async (stopType, state) => {
  await using voice = await VoiceAgent.start();
  const user = await startLongAnswer(voice);
  const { turnId } = await user.client.next("block_event", isOf("block_stop"));

  await user.client.send({ type: "control_stop", body: { targetId: turnId, stopType } });

  expect(await user.client.next("block_event", isOf("turn_spoken"), 2_000)).toMatchObject({ state });
  await user.untilSilence(500);
  expect(user.secondsHeard()).toBeLessThan(0.75 * (await secondsOf(LONG)));
  expect(user.client.all("error_message")).toEqual([]);
});

test("the next turn starts when the previous turn's speech has ended", async () => {
  await using voice = await VoiceAgent.start();
  const user = await startLongAnswer(voice);

  const next = await user.client.say("And tomorrow?");

  await user.client.next("start_answer", ({ previousId }) => previousId === next, 20_000);
  expect(eventsOf(user)).toContain("turn_spoken");
  expect(user.secondsHeard()).toBeGreaterThan(0.9 * (await secondsOf(LONG)));
});
