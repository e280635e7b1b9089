import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import type { Participant } from "../../support/participant.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { allResults, messagesTo } from "../../support/model-view.ts";

const notesOf = (agent: TestAgent) =>
  messagesTo(agent)
    .flatMap(({ content }) => content.filter(({ name }) => name === "call_outcome"))
    .map(({ input }) => (input as { note: string }).note);
/** A client tool with which a test holds up a turn. */
const HOLD = { name: "hold", description: "H.", inputSchema: { type: "object" } };
const RECEIPT = /^Started in the background \(call [\w-]+\)\. Its result will be reported when it arrives\.$/u;

/** A background tool whose runs end when the test calls `end`. */
function job(more: { onResult?: "speak" | "wait" | "silent"; timeoutMs?: number; idempotent?: boolean } = {}) {
  const runs: { end: (result: string) => void; signal: AbortSignal }[] = [];
  const started = Promise.withResolvers<void>();
  const tool = defineTool({
    description: "Works for long.",
    input: z.object({}),
    background: true,
    ...more,
    run: (_input, { signal }) => {
      const done = Promise.withResolvers<string>();
      runs.push({ end: done.resolve, signal });
      started.resolve();
      return done.promise;
    },
  });
  return { tool, runs, started: started.promise, end: (result: string) => runs.at(-1)?.end(result) };
}

async function untilSentence(user: Participant, sentence: string): Promise<void> {
  await user.next("assistant_sentence", (body) => body.text === sentence);
}

/** Closes the session, and then stores its call in the state in which a dying worker would have left it. */
async function die(agent: TestAgent): Promise<void> {
  await agent.leave();
  await agent.sql`
    update tool_calls set state = 'running', error_code = null, error_message = null, finished_at = null`;
}

test("a background call: the answer has a receipt, the session continues, and the result is reported at the next pause", async () => {
  const bake = job();
  await using agent = await TestAgent.start({ tools: { bake: bake.tool } });
  const user = await agent.client("user");
  agent.model.script([
    reply([toolUse("bake")]),
    reply([text("It is in the oven.")]),
    reply([text("Sunny.")]),
    reply([text("It is baked.")]),
  ]);

  expect(await user.answerTo(await user.say("Bake a cake"))).toBe("It is in the oven.");
  expect(allResults(agent)).toMatchObject([{ content: expect.stringMatching(RECEIPT) }]);
  expect(await user.answerTo(await user.say("How is the weather?"))).toBe("Sunny.");
  bake.end("one cake");
  await untilSentence(user, "It is baked.");

  expect(messagesTo(agent).at(-1)?.content).toMatchObject([{ type: "tool_result", content: "one cake" }]);
  expect(notesOf(agent)).toEqual(["Tell the participant."]);
  expect(agent.model.rejections).toEqual([]);
  await agent.leave();
  expect(await agent.sql`select state, is_background from tool_calls`).toEqual([
    { state: "success", is_background: true },
  ]);
});

test("a result that arrives during another turn is reported once that turn has ended", async () => {
  const bake = job();
  await using agent = await TestAgent.start({ tools: { bake: bake.tool } });
  const user = await agent.client("user", { tools: [HOLD] });
  agent.model.script([
    reply([toolUse("bake")]),
    reply([text("It is in the oven.")]),
    reply([text("Let me think."), toolUse("hold")]),
    reply([text("Sunny.")]),
    reply([text("It is baked.")]),
  ]);
  await user.answerTo(await user.say("Bake a cake"));
  const weather = await user.say("How is the weather?");
  const { id } = await user.next("tool_use_request", ({ toolName }) => toolName === "hold");
  bake.end("one cake");
  await user.next("tool_use_result", ({ success }) => success);
  await user.answer(id, { success: true });

  expect(await user.answerTo(weather)).toBe("Let me think. Sunny.");
  await untilSentence(user, "It is baked.");
  expect(agent.model.rejections).toEqual([]);
});

test("bad arguments are reported immediately, and nothing is reported later", async () => {
  const bake = defineTool({
    description: "B.",
    input: z.object({ kind: z.string() }),
    background: true,
    run: () => "never",
  });
  await using agent = await TestAgent.start({ tools: { bake } });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("bake")]), reply([text("What kind?")]), reply([text("Yes.")])]);

  expect(await user.answerTo(await user.say("Bake"))).toBe("What kind?");
  expect(allResults(agent)).toMatchObject([{ is_error: true, content: expect.stringContaining("kind") }]);
  expect(await user.answerTo(await user.say("Are you there?"))).toBe("Yes.");
  expect(notesOf(agent)).toEqual([]);
});

test("wait: the result is reported with the participant's next message, not in a separate turn", async () => {
  const bake = job({ onResult: "wait" });
  await using agent = await TestAgent.start({ tools: { bake: bake.tool } });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("bake")]), reply([text("Started.")]), reply([text("Yes, and it is baked.")])]);
  await user.answerTo(await user.say("Bake a cake"));
  bake.end("one cake");
  await user.next("tool_use_result");

  expect(await user.answerTo(await user.say("Are you there?"))).toBe("Yes, and it is baked.");

  expect(agent.model.requests).toHaveLength(3);
  expect(messagesTo(agent).slice(-3)).toMatchObject([
    { role: "user", content: [{ type: "text", text: "Are you there?" }] },
    { role: "assistant", content: [{ type: "tool_use", name: "call_outcome" }] },
    { role: "user", content: [{ type: "tool_result", content: "one cake" }] },
  ]);
  expect(notesOf(agent)).toEqual(["Tell the participant along with your answer."]);
  expect(agent.model.rejections).toEqual([]);
});

test("silent: the model receives the result with the next message and is told to keep it to itself", async () => {
  const bake = job({ onResult: "silent" });
  await using agent = await TestAgent.start({ tools: { bake: bake.tool } });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("bake")]), reply([text("Started.")]), reply([text("Yes.")])]);
  await user.answerTo(await user.say("Bake a cake"));
  bake.end("one cake");
  await user.next("tool_use_result");
  await user.answerTo(await user.say("Are you there?"));
  expect(notesOf(agent)).toEqual(["For your knowledge only: do not speak of it unless you are asked."]);
});

test("two at once: one turn reports both results, each once", async () => {
  const bake = job();
  const brew = job();
  await using agent = await TestAgent.start({ tools: { bake: bake.tool, brew: brew.tool } });
  const user = await agent.client("user", { tools: [HOLD] });
  agent.model.script([
    reply([toolUse("bake"), toolUse("brew")]),
    reply([toolUse("hold")]),
    reply([text("Both are on.")]),
    reply([text("Both are done.")]),
  ]);
  await user.say("Cake and coffee");
  const { id } = await user.next("tool_use_request", ({ toolName }) => toolName === "hold");
  brew.end("coffee");
  bake.end("cake");
  await user.until(() => user.all("tool_use_result").length === 2, "both results");
  await user.answer(id, { success: true });
  await untilSentence(user, "Both are done.");

  const results = allResults(agent).map(({ content }) => content ?? "");
  expect(results.filter((content) => /coffee|cake/u.test(content))).toEqual(["coffee", "cake"]);
  expect(notesOf(agent)).toHaveLength(2);
  expect(agent.model.rejections).toEqual([]);
});

test("an interruption does not affect it, whatever its onInterrupt is", async () => {
  const bake = job();
  const look = defineTool({ description: "L.", input: z.object({}), readOnly: true, run: () => new Promise(() => {}) });
  await using agent = await TestAgent.start({
    tools: { bake: bake.tool, look },
    policy: { onNewMessage: "interrupt" },
  });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("bake"), toolUse("look")]), reply([text("Yes?")]), reply([text("It is baked.")])]);
  await user.say("Bake a cake");
  await bake.started;

  expect(await user.answerTo(await user.say("Never mind the look"))).toBe("Yes?");
  expect(bake.runs[0]?.signal.aborted).toBe(false);
  bake.end("one cake");
  await untilSentence(user, "It is baked.");
  expect(agent.model.rejections).toEqual([]);
});

test("a stop cancels the running turn's background calls, and the model is told with the next message", async () => {
  const bake = job();
  const look = defineTool({ description: "L.", input: z.object({}), run: () => new Promise(() => {}) });
  await using agent = await TestAgent.start({ tools: { bake: bake.tool, look } });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("bake"), toolUse("look")]), reply([text("As you wish.")])]);
  await user.say("Bake a cake");
  await bake.started;
  await user.send({ type: "control_stop", body: {} });
  await user.next("tool_use_result", ({ errorCode }) => errorCode === "cancelled");

  expect(await user.answerTo(await user.say("Sorry"))).toBe("As you wish.");
  expect(bake.runs[0]?.signal.aborted).toBe(true);
  expect(agent.model.requests).toHaveLength(2);
  expect(notesOf(agent)).toEqual(["Tell the participant along with your answer."]);
  expect(agent.model.rejections).toEqual([]);
});

test("a stop during a later turn leaves it running", async () => {
  const bake = job();
  const look = defineTool({ description: "L.", input: z.object({}), run: () => new Promise(() => {}) });
  await using agent = await TestAgent.start({ tools: { bake: bake.tool, look } });
  const user = await agent.client("user");
  agent.model.script([
    reply([toolUse("bake")]),
    reply([text("Started.")]),
    reply([toolUse("look")]),
    reply([text("It is baked.")]),
  ]);
  await user.answerTo(await user.say("Bake a cake"));
  await user.say("Look");
  await user.next("tool_use_request", ({ toolName }) => toolName === "look");
  await user.send({ type: "control_stop", body: {} });
  await user.next("tool_use_result", ({ errorCode }) => errorCode === "cancelled");
  bake.end("one cake");
  await untilSentence(user, "It is baked.");
  expect(agent.model.rejections).toEqual([]);
});

test("it has the same deadline as any call, and the model is told when it passes", async () => {
  const bake = job({ timeoutMs: 200 });
  await using agent = await TestAgent.start({ tools: { bake: bake.tool } });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("bake")]), reply([text("Started.")]), reply([text("It took too long.")])]);
  await user.answerTo(await user.say("Bake a cake"));
  await untilSentence(user, "It took too long.");
  expect(allResults(agent).at(-1)).toMatchObject({ content: "Tool execution timed out after 0.2s", is_error: true });
  await agent.leave();
  expect(await agent.calls()).toMatchObject([{ state: "error", error_code: "timeout" }]);
});

test("a regenerated answer still has the result that was reported", async () => {
  const bake = job({ onResult: "wait" });
  await using agent = await TestAgent.start({ tools: { bake: bake.tool } });
  const user = await agent.client("user");
  agent.model.script([
    reply([toolUse("bake")]),
    reply([text("Started.")]),
    reply([text("Yes.")]),
    reply([text("It is baked.")]),
  ]);
  await user.answerTo(await user.say("Bake a cake"));
  bake.end("one cake");
  await user.next("tool_use_result");
  const question = await user.say("Are you there?");
  await user.answerTo(question);
  await user.send({ type: "control_variation", body: { targetId: question, mode: "regenerate" } });
  await untilSentence(user, "It is baked.");
  expect(allResults(agent).at(-1)).toMatchObject({ content: "one cake" });
  expect(agent.model.rejections).toEqual([]);
});

test("a new worker runs it again if that is safe, and its result is reported once", async () => {
  const bake = job({ idempotent: true });
  await using agent = await TestAgent.start({ tools: { bake: bake.tool } });
  const user = await agent.client("user");
  agent.model.script([
    reply([toolUse("bake")]),
    reply([text("Started.")]),
    reply([text("It is baked.")]),
    reply([text("Yes.")]),
  ]);
  await user.answerTo(await user.say("Bake a cake"));
  await die(agent);
  await agent.join();
  await expect.poll(() => bake.runs.length, { timeout: 10_000 }).toBe(2);
  bake.end("one cake");
  await untilSentence(user, "It is baked.");
  await agent.leave();
  await agent.join();
  await user.until(() => user.all("configuration").length === 4, "the third worker");
  expect(await user.answerTo(await user.say("Are you there?"))).toBe("Yes.");

  const results = allResults(agent).filter(({ content }) => content === "one cake");
  expect(results).toHaveLength(1);
  expect(agent.model.rejections).toEqual([]);
});

test("a new worker that may not run it again says that its outcome is unknown", async () => {
  const bake = job();
  await using agent = await TestAgent.start({ tools: { bake: bake.tool } });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("bake")]), reply([text("Started.")]), reply([text("I do not know.")])]);
  await user.answerTo(await user.say("Bake a cake"));
  await die(agent);
  await agent.join();
  await untilSentence(user, "I do not know.");
  expect(bake.runs).toHaveLength(1);
  expect(allResults(agent).at(-1)).toMatchObject({
    content: expect.stringContaining("Outcome unknown"),
    is_error: true,
  });
  expect(agent.model.rejections).toEqual([]);
});

test("a result that was not reported when the worker stopped is reported by the next one", async () => {
  const bake = job({ onResult: "wait" });
  await using agent = await TestAgent.start({ tools: { bake: bake.tool } });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("bake")]), reply([text("Started.")]), reply([text("It is baked.")])]);
  await user.answerTo(await user.say("Bake a cake"));
  bake.end("one cake");
  await user.next("tool_use_result");
  await agent.leave();
  await agent.join();
  await user.until(() => user.all("configuration").length === 3, "the second worker");
  expect(await user.answerTo(await user.say("Well?"))).toBe("It is baked.");
  expect(allResults(agent).at(-1)).toMatchObject({ content: "one cake" });
  expect(agent.model.rejections).toEqual([]);
});
