import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { httpError, reply, slow, stallAfter, text, toolUse } from "../../../src/model-server/step.ts";
import { Participant } from "../../support/participant.ts";
import { outline } from "../../support/model-view.ts";

const note = defineTool({ description: "N.", input: z.object({}), run: () => "noted" });

test("a second turn sends the model the whole history", async () => {
  await using agent = await TestAgent.start({ tools: { note } });
  const user = await agent.client("user");
  agent.model.script([reply([text("One."), toolUse("note")]), reply([text("Two.")]), reply([text("Three.")])]);
  await user.answerTo(await user.say("first"));
  await user.answerTo(await user.say("second"));
  expect(outline(agent)).toEqual([
    "user: first",
    "assistant: One., tool_use",
    "user: tool_result",
    "assistant: Two.",
    "user: second",
  ]);
  expect(agent.model.rejections).toEqual([]);
});

test("history continues after the participant left and came back, and with a new worker", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script([reply([text("One.")]), reply([text("Two.")]), reply([text("Three.")])]);
  await user.answerTo(await user.say("first"));
  await user.leave();
  const again = await agent.client("user");
  await again.answerTo(await again.say("second"));
  await agent.leave();
  await agent.join();
  await again.answerTo(await again.say("third"));
  expect(outline(agent)).toEqual(["user: first", "assistant: One.", "user: second", "assistant: Two.", "user: third"]);
});

test("plain text on lk.chat is a message, and lk.transcription carries the answer", async () => {
  await using agent = await TestAgent.start();
  await using user = await Participant.join(agent.roomName, "plain");
  const heard = Promise.withResolvers<string>();
  user.onText("lk.transcription", heard.resolve);
  agent.model.script([reply([text("Hello. It works.")])]);
  await user.room.localParticipant?.sendText("Hi", { topic: "lk.chat" });
  expect(await heard.promise).toBe("Hello. It works.");
  expect(outline(agent)).toEqual(["user: Hi"]);
});

test("texts on lk.chat are kept whatever their stream's id, and whatever they contain", async () => {
  await using agent = await TestAgent.start();
  await using user = await Participant.join(agent.roomName, "plain");
  const streamIds = ["a\0b", "s".repeat(6_000)];
  agent.model.script(streamIds.map(() => reply([text("Ok.")])));

  for (const streamId of streamIds) {
    const writer = await user.room.localParticipant?.streamText({ topic: "lk.chat", streamId });
    await writer?.write("One\0two");
    await writer?.close();
  }

  const turns = async () =>
    (await agent.sql`select input from turns where state = 'completed'`).map(({ input }) => input);
  await expect.poll(turns).toEqual(streamIds.map(() => [{ type: "text", text: "One\u{FFFD}two" }]));
  expect(agent.model.rejections).toEqual([]);
});

test("messages that arrive during a turn wait in order", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script([reply([text("One.")], slow(20)), reply([text("Two.")]), reply([text("Three.")])]);
  const ids = [await user.say("a"), await user.say("b"), await user.say("c")];
  expect(await user.answerTo(ids[2] ?? "")).toBe("Three.");
  const answers = user.all("start_answer").map((start) => start.previousId);
  expect(answers).toEqual(ids);
  expect(agent.model.rejections).toEqual([]);
});

test("with onNewMessage interrupt a new message ends the running turn and the model is told so", async () => {
  await using agent = await TestAgent.start({ policy: { onNewMessage: "interrupt" } });
  const user = await agent.client("user");
  agent.model.script([reply([text("One two three. ".repeat(20))], { slow: 100, chunking: 5 }), reply([text("Ok.")])]);
  await user.say("a");
  await user.next("start_answer");
  await user.next("assistant_sentence");
  expect(await user.answerTo(await user.say("b"))).toBe("Ok.");
  const messages = outline(agent);
  expect(messages.at(-1)).toMatch(/^user: \[The previous reply was interrupted .*\], b$/);
  expect(agent.model.rejections).toEqual([]);
  await agent.leave();
  expect(await agent.sql`select state from turns order by position`).toMatchObject([
    { state: "interrupted" },
    { state: "completed" },
  ]);
});

test("a message that is sent twice is answered once", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script([reply([text("One.")]), reply([text("Two.")])]);
  const id = await user.say("a");
  await user.answerTo(id);
  await user.say("a", id);
  await user.answerTo(await user.say("b"));
  expect(agent.model.requests).toHaveLength(2);
});

test("ControlStop ends the turn and cancels its open calls", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user", {
    features: ["tool_use_cancel"],
    tools: [{ name: "scan", description: "S.", inputSchema: { type: "object" } }],
  });
  agent.model.script([reply([toolUse("scan")]), reply([text("Fine.")])]);
  await user.say("a");
  const request = await user.next("tool_use_request");
  await user.send({ type: "control_stop", body: {} });
  expect(await user.next("tool_use_cancel")).toMatchObject({ id: request.id, reason: "interrupted" });
  expect(await user.answerTo(await user.say("b"))).toBe("Fine.");
  expect(agent.model.rejections).toEqual([]);
  expect(await agent.calls()).toMatchObject([{ state: "cancelled" }]);
});

for (const [what, step] of [
  ["refuses the key", httpError(401)],
  ["is overloaded for good", () => httpError(529, undefined, { "retry-after-ms": "1" })],
  ["stalls", reply([text("Half a sentence")], { fault: stallAfter(3) })],
] as const) {
  test(`when the model ${what}, the participant gets an error, the turn is stored as failed and the next one works`, async () => {
    await using agent = await TestAgent.start({ modelIdleTimeoutMs: 1_000 });
    const user = await agent.client("user");
    let failing = true;
    agent.model.script(() => (failing ? (typeof step === "function" ? step() : step) : reply([text("Back.")])));
    const id = await user.say("a");
    expect(await user.next("error_message")).toMatchObject({ originatingId: id });
    failing = false;
    expect(await user.answerTo(await user.say("b"))).toBe("Back.");
    await agent.leave();
    expect(await agent.sql`select state from turns order by position`).toMatchObject([
      { state: "failed" },
      { state: "completed" },
    ]);
  });
}

test("a call to an overloaded model is retried", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script([httpError(529, undefined, { "retry-after-ms": "1" }), reply([text("Here.")])]);
  expect(await user.answerTo(await user.say("a"))).toBe("Here.");
});
