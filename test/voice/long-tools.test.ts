import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { secondsOf } from "../support/speaker.ts";
import { VoiceAgent } from "../support/voice-agent.ts";

const LOOK = { description: "Looks.", input: z.object({}), filler: "One moment please." };
const LEGAL = "The contract lasts a year, and it goes on for another one if you do not cancel it three months before.";

test("a slow tool's filler is heard during the wait, and the model does not know it", async () => {
  const found = Promise.withResolvers<string>();
  const look = defineTool({ ...LOOK, fillerAfterMs: 300, run: () => found.promise });
  await using voice = await VoiceAgent.start({ tools: { look } });
  const { agent } = voice;
  const user = await voice.speaker("user");
  agent.model.script([reply([toolUse("look")]), reply([text("I have found it.")]), reply([text("You are welcome.")])]);

  const id = await user.client.say("Look for it");
  await user.untilHeard(0.5);
  await user.untilSilence();
  const released = performance.now();
  found.resolve("found");
  expect(await user.client.answerTo(id)).toBe("I have found it.");
  await user.untilHeard(0.5, released);

  await user.client.answerTo(await user.client.say("Thank you"));
  expect(JSON.stringify(agent.model.requests.at(-1)?.body)).not.toContain("One moment");
  expect(agent.model.rejections).toEqual([]);
});

test("a quick tool's filler is not heard", async () => {
  const look = defineTool({ ...LOOK, fillerAfterMs: 5_000, run: () => "found" });
  await using voice = await VoiceAgent.start({ tools: { look } });
  const user = await voice.speaker("user");
  voice.agent.model.script([reply([toolUse("look")]), reply([text("Yes.")])]);
  await user.client.answerTo(await user.client.say("Look for it"));
  await user.untilSound();
  await user.untilSilence();
  expect(user.secondsHeard()).toBeLessThan(1);
});

test("words during a background tool are answered, and its result is spoken when it arrives", async () => {
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
  await user.untilSound();
  await user.untilSilence();

  voice.understand("How is the weather?");
  const { to } = await user.say("How is the weather?");
  const { id } = await user.client.next("transcription", ({ final }) => final);
  expect(await user.client.answerTo(id)).toBe("It is sunny.");
  await user.untilSound(to);
  await user.untilSilence();
  const ready = performance.now();
  baked.resolve("one cake");
  await user.untilHeard(0.5, ready);
  await user.client.next("assistant_sentence", (body) => body.text === "The cake is ready now.");
  expect(agent.model.rejections).toEqual([]);
});

test("if a question continues, the tool of the turn that started too early never runs", async () => {
  const runs: string[] = [];
  const order = defineTool({
    description: "O.",
    input: z.object({ what: z.string() }),
    run: ({ what }) => void runs.push(what),
  });
  await using voice = await VoiceAgent.start({ tools: { order }, settings: { endOfTurnMs: 100 } });
  const { agent } = voice;
  const user = await voice.speaker("user");
  agent.model.script((request) => {
    const last = JSON.stringify((request.body["messages"] as object[]).at(-1));
    if (last.includes("tool_result")) return reply([text("Ordered.")]);
    if (last.includes("two of them")) return reply([toolUse("order", { what: "two" })]);
    // The reply takes longer than the participant's pause.
    return reply([toolUse("order", { what: "one" })], { slow: 400, chunking: 1 });
  });
  voice.understand("Order a pizza");
  await user.say("Order a pizza");
  await expect.poll(() => agent.model.requests.length, { timeout: 10_000 }).toBe(1);
  voice.understand("no wait, order two of them");
  await user.say("no wait order two of them with olives and with cheese");
  await user.client.next("assistant_sentence", (body) => body.text === "Ordered.", 20_000);
  expect(runs).toEqual(["two"]);
  expect(agent.model.rejections).toEqual([]);
});

test("what a tool that is not interruptible leads to is heard to its end, and what was said over it is answered afterwards", async () => {
  const terms = defineTool({ description: "T.", input: z.object({}), interruptible: false, run: () => LEGAL });
  await using voice = await VoiceAgent.start({ tools: { terms } });
  const { agent } = voice;
  const user = await voice.speaker("user");
  voice.understand("Stop.");
  agent.model.script([reply([toolUse("terms")]), reply([text(LEGAL)]), reply([text("As you like.")])]);

  await user.client.say("What are the terms?");
  await user.untilHeard(0.5);
  await user.say("Please stop it now.");
  await user.client.next("assistant_sentence", ({ text: said }) => said === "As you like.", 20_000);

  expect(await agent.sql`select state, heard from turns where heard is not null`).toEqual([]);
  expect(user.secondsHeard()).toBeGreaterThan(0.8 * (await secondsOf(LEGAL)));
  expect(agent.model.rejections).toEqual([]);
});

test("after such a tool's turn, answers can be interrupted again", async () => {
  const terms = defineTool({ description: "T.", input: z.object({}), interruptible: false, run: () => "none" });
  await using voice = await VoiceAgent.start({ tools: { terms } });
  const { agent } = voice;
  const user = await voice.speaker("user");
  voice.understand("Stop.");
  agent.model.script([
    reply([toolUse("terms")]),
    reply([text("There are none.")]),
    reply([text(LEGAL)]),
    reply([text("As you like.")]),
  ]);
  await user.client.answerTo(await user.client.say("What are the terms?"));
  await user.untilSilence();

  const asked = performance.now();
  await user.client.say("And the law?");
  await user.untilHeard(0.5, asked);
  await user.say("Please stop it now.");

  const interrupted = () => agent.sql`select 1 from turns where heard is not null`;
  await expect.poll(interrupted, { timeout: 10_000 }).toHaveLength(1);
});
