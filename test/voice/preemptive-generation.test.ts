import { beforeAll, expect, test } from "vitest";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import type { Synthesizer } from "../../src/voice/providers/synthesizer.ts";
import { VoiceAgent, warmUp } from "../support/voice-agent.ts";
import { announced } from "../support/client-tool.ts";

const SPECULATES = { settings: { speculate: true, endOfTurnMs: 2_500 } };

// On a busy machine, an utterance may be heard in several pieces, and the model may be called for each of them. The
// recognizer of these tests returns the whole text for each piece.

beforeAll(() => warmUp("What time is it?", "Hello there."));

test("the model is called before a spoken turn has certainly ended, and once; nothing is said or stored before", async () => {
  await using voice = await VoiceAgent.start(SPECULATES);
  const { agent } = voice;
  const user = await voice.speaker("user");
  agent.model.script(() => reply([text("It is ten past two.")]));
  let pieces = 0;
  voice.understand("What time is it?", () => pieces++);
  const spoken = user.say("What time is it?");
  await expect.poll(() => agent.model.requests.length, { timeout: 10_000, interval: 20 }).toBeGreaterThan(0);

  expect(user.client.all("start_answer")).toEqual([]);
  expect(await agent.sql`select from turns`).toHaveLength(0);
  await spoken;
  const said = await user.client.next("transcription", ({ final }) => final);
  expect(await user.client.answerTo(said.id)).toBe("It is ten past two.");
  expect(agent.model.requests.length).toBeLessThanOrEqual(pieces);
  expect(agent.model.rejections).toEqual([]);
});

test("the first sentence's sound is generated before a spoken turn has certainly ended, and once", async () => {
  const sounded: string[] = [];
  const wrap = (voice: Synthesizer): Synthesizer => ({
    speak: async function* (text, options) {
      const index = sounded.push("") - 1;
      async function* recordedPieces() {
        for await (const piece of text) {
          sounded[index] += piece;
          yield piece;
        }
      }
      yield* voice.speak(recordedPieces(), options);
    },
    close: () => voice.close(),
  });
  await using voice = await VoiceAgent.start({ ...SPECULATES, wrap });
  const { agent } = voice;
  const user = await voice.speaker("user");
  agent.model.script(() => reply([text("It is ten past two. And the sun is out.")]));
  let pieces = 0;
  voice.understand("What time is it?", () => pieces++);
  const spoken = user.say("What time is it?");
  await expect.poll(() => sounded, { timeout: 10_000, interval: 20 }).toContain("It is ten past two.");

  expect(user.client.all("start_answer")).toEqual([]);
  await spoken;
  const said = await user.client.next("transcription", ({ final }) => final);
  expect(await user.client.answerTo(said.id)).toBe("It is ten past two. And the sun is out.");
  await user.untilHeard(1);
  await user.untilSilence();
  const words = sounded.map((text) => text.trim());
  expect(words.slice(-2)).toEqual(["It is ten past two.", "And the sun is out."]);
  expect(words.length).toBeLessThanOrEqual(pieces + 1);
});

test("an answer to half a question is never heard or stored, and its tools never run", async () => {
  await using voice = await VoiceAgent.start(SPECULATES);
  const { agent } = voice;
  const user = await voice.speaker("user", { tools: [announced("order")] });
  agent.model.script(({ body }) =>
    JSON.stringify(body["messages"]).includes("nothing.")
      ? reply([text("I order nothing.")])
      : reply([text("At once."), toolUse("order")]),
  );
  voice.understand("Order");
  await user.say("Hello there.");
  await expect.poll(() => agent.model.requests.length, { timeout: 10_000, interval: 20 }).toBeGreaterThan(0);
  voice.understand("nothing.");
  await user.say("Hello there.");

  const said = await user.client.next("transcription", ({ final }) => final);
  expect(said.text).toMatch(/^Order.* nothing\.$/);
  expect(await user.client.answerTo(said.id)).toBe("I order nothing.");
  expect(user.client.all("tool_use_request")).toEqual([]);
  expect(await agent.calls()).toEqual([]);
  expect(await agent.sql`select text_content from turn_blocks`).toEqual([{ text_content: "I order nothing." }]);
  expect(agent.model.rejections).toEqual([]);
});
