import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import { reply, text, toolUse } from "../support/model-server/step.ts";
import { VoiceAgent } from "../support/voice-agent.ts";

function look(ms: number) {
  return defineTool({
    description: "Looks.",
    input: z.object({}),
    filler: "One moment please.",
    fillerAfterMs: 300,
    run: () => sleep(ms, "found"),
  });
}

test("a slow tool's filler is heard in the wait, and the model does not know of it", async () => {
  await using voice = await VoiceAgent.start({ tools: { look: look(4_000) } });
  const { agent } = voice;
  const user = await voice.speaker("user");
  agent.model.script([reply([toolUse("look")]), reply([text("I have found it.")]), reply([text("You are welcome.")])]);

  const asked = performance.now();
  const id = await user.client.say("Look for it");
  const filler = await user.untilSound(asked);
  expect(await user.client.answerTo(id)).toBe("I have found it.");
  expect(filler - asked).toBeLessThan(4_000);
  const answer = await user.untilSilence();
  expect(user.secondsHeard(asked, asked + 4_000)).toBeGreaterThan(0.5);
  expect(user.secondsHeard(asked + 4_000, answer)).toBeGreaterThan(0.5);

  await user.client.answerTo(await user.client.say("Thank you"));
  expect(JSON.stringify(agent.model.requests.at(-1)?.body)).not.toContain("One moment");
  expect(agent.model.rejections).toEqual([]);
});

test("a quick tool's filler is not heard", async () => {
  await using voice = await VoiceAgent.start({ tools: { look: look(50) } });
  const user = await voice.speaker("user");
  voice.agent.model.script([reply([toolUse("look")]), reply([text("Yes.")])]);
  const asked = performance.now();
  await user.client.answerTo(await user.client.say("Look for it"));
  await user.untilSound(asked);
  await user.untilSilence();
  expect(user.secondsHeard(asked)).toBeLessThan(1);
});

test("words while a background tool runs are answered, and its result is spoken when it is there", async () => {
  const baked = Promise.withResolvers<string>();
  const bake = defineTool({ description: "B.", input: z.object({}), background: true, run: () => baked.promise });
  await using voice = await VoiceAgent.start({ tools: { bake } });
  const { agent } = voice;
  const user = await voice.speaker("user");
  agent.model.script([
    reply([toolUse("bake")]),
    reply([text("It is in the oven.")]),
    reply([text("It is sunny.")]),
    reply([text("The cake is ready now.")]),
  ]);
  await user.client.answerTo(await user.client.say("Bake a cake"));

  voice.understand("How is the weather?");
  await user.say("How is the weather?");
  const { id } = await user.client.next("transcription", ({ final }) => final);
  expect(await user.client.answerTo(id)).toBe("It is sunny.");
  await user.untilSilence();
  const ready = performance.now();
  baked.resolve("one cake");
  await user.untilSound(ready);
  await user.client.next("assistant_sentence", (body) => body.text === "The cake is ready now.");
  await user.untilSilence();
  expect(user.secondsHeard(ready)).toBeGreaterThan(0.5);
  expect(agent.model.rejections).toEqual([]);
});

test("a question that goes on: the tool of the turn that was begun too early never ran", async () => {
  const runs: string[] = [];
  const order = defineTool({
    description: "O.",
    input: z.object({ what: z.string() }),
    run: ({ what }) => void runs.push(what),
  });
  await using voice = await VoiceAgent.start({ tools: { order }, settings: { endOfTurnMs: 100 } });
  const { agent } = voice;
  const user = await voice.speaker("user");
  const answers = [
    reply([toolUse("order", { what: "one" })], { slow: 400 }),
    reply([toolUse("order", { what: "two" })]),
    reply([text("Ordered.")]),
  ];
  agent.model.script(() => answers.shift() ?? reply([text("Unplanned.")]));
  voice.understand("Order a pizza");
  await user.say("Order a pizza");
  await expect.poll(() => agent.model.requests.length, { timeout: 10_000 }).toBe(1);
  voice.understand("no wait, order two of them, with olives and with cheese");
  await user.say("no wait, order two of them, with olives and with cheese");
  await user.client.next("assistant_sentence", (body) => body.text === "Ordered.", 20_000);
  expect(runs).toEqual(["two"]);
  expect(agent.model.rejections).toEqual([]);
});
