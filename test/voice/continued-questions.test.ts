import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import type { OnUserTurn } from "../../src/agent/turn-hooks.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import type { Speaker } from "../support/speaker.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";

const FIRST = "I would like a tea.";
const REST = "And a cake, please.";
const ANSWER = "One two three four five six seven eight nine ten eleven twelve. Then we count again from the start.";

beforeAll(() => warmUp(FIRST, REST));

/** Says the first part, and the second when the answer has been heard for this long. */
async function continueAfter(voice: VoiceAgent, user: Speaker, heardMs: number): Promise<void> {
  voice.understand(FIRST);
  const { to } = await user.say(FIRST);
  await user.untilHeard(heardMs / 1_000, to);
  voice.understand(REST);
  await user.say(REST);
  await user.client.next("assistant_sentence", ({ text: said }) => said === "Both.", 15_000);
}

const shownTo = ({ agent }: VoiceAgent) => {
  const messages = agent.model.requests.at(-1)?.body["messages"] as { role: string; content: { text?: string }[] }[];
  return messages.map(({ role, content }) => `${role}: ${content.map(({ text: words = "" }) => words).join("")}`);
};

test("a participant who continues when the answer begins has said one message, and the first answer is void", async () => {
  await using voice = await VoiceAgent.start();
  const user = await voice.speaker("user", { features: ["blocks"] });
  voice.agent.model.script([reply([text(ANSWER)]), reply([text("Both.")])]);

  await continueAfter(voice, user, 50);

  expect(shownTo(voice)).toEqual(["user: I would like a tea And a cake, please."]);
  const [first, second] = user.client.all("start_answer");
  expect(second?.replacesId).toBe(first?.id);
});

test("a participant who speaks later interrupts the answer, which stays", async () => {
  await using voice = await VoiceAgent.start();
  const user = await voice.speaker("user");
  voice.agent.model.script([reply([text(ANSWER)]), reply([text("Both.")])]);

  await continueAfter(voice, user, 1_500);

  expect(shownTo(voice)).toHaveLength(3);
});

test("an answer that has called a tool stays", async () => {
  const order = defineTool({ description: "Orders.", input: { type: "object" }, run: () => "ordered" });
  await using voice = await VoiceAgent.start({ tools: { order } });
  const user = await voice.speaker("user");
  voice.agent.model.script([reply([toolUse("order")]), reply([text(ANSWER)]), reply([text("Both.")])]);

  await continueAfter(voice, user, 50);

  expect(shownTo(voice).join()).toContain(FIRST);
  expect(await voice.agent.calls()).toHaveLength(1);
});

test("a message that waits when a participant continues is answered, too", async () => {
  await using voice = await VoiceAgent.start({ settings: { speculate: false } });
  const user = await voice.speaker("user");
  await using ann = await voice.agent.client("ann");
  // The participant continues before the answer is heard.
  const late = reply([text(ANSWER)], { afterMs: 8_000 });
  voice.agent.model.script([late, reply([text("It is noon.")]), reply([text("Both.")])]);
  voice.understand(FIRST);
  await user.say(FIRST);
  await expect.poll(() => voice.agent.model.requests.length, { timeout: 10_000 }).toBe(1);
  await ann.say("What time is it?");
  voice.understand(REST);

  await user.say(REST);
  await user.client.next("assistant_sentence", ({ text: said }) => said === "Both.", 15_000);

  expect(shownTo(voice).join()).toContain("What time is it?");
});

test("a message that is being prepared when a participant continues is answered, too", async () => {
  const question = "What time is it?";
  const asked = Promise.withResolvers<void>();
  const onUserTurn: OnUserTurn = async ({ text: said }, { signal }) => {
    if (said !== question) return;
    asked.resolve();
    await sleep(20_000, undefined, { signal }).catch(() => {});
  };
  await using voice = await VoiceAgent.start({ agent: { onUserTurn: { run: onUserTurn, withinMs: 20_000 } } });
  const user = await voice.speaker("user");
  await using ann = await voice.agent.client("ann");
  voice.agent.model.script([reply([text(ANSWER)]), reply([text("Both.")])]);
  voice.understand(FIRST);
  const { to } = await user.say(FIRST);
  await user.untilHeard(0.05, to);
  await ann.say(question);
  voice.understand(REST);

  await Promise.all([user.say(REST), asked.promise]);
  await user.client.next("assistant_sentence", ({ text: said }) => said === "Both.", 15_000);

  const stored = await voice.agent.sql`select superseded_by from turns where participant_identity = 'ann'`;
  expect(stored).toEqual([{ superseded_by: null }]);
});
