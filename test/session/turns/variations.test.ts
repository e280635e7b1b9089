import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { messagesTo, outline } from "../../support/model-view.ts";

const textOutline = (agent: TestAgent) => outline(agent, ({ type, text, content }) => text ?? content ?? type);

test("regenerate answers a message again, without what followed it, and this outlasts a restart", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script(["One.", "Two.", "Two again.", "Three."].map((words) => reply([text(words)])));
  await user.answerTo(await user.say("a"));
  const id = await user.say("b");
  await user.answerTo(id);

  await user.send({ type: "control_variation", body: { targetId: id, mode: "regenerate" } });
  await user.next("assistant_sentence", (body) => body.text === "Two again.");

  expect(textOutline(agent)).toEqual(["user: a", "assistant: One.", "user: b"]);
  const [, second, again] = user.all("start_answer");
  expect(second).toMatchObject({ previousId: id });
  expect(second).not.toHaveProperty("replacesId");
  expect(again).toMatchObject({ previousId: id, replacesId: second?.id });
  await agent.leave();
  await agent.join();
  await user.answerTo(await user.say("c"));
  expect(textOutline(agent)).toEqual(["user: a", "assistant: One.", "user: b", "assistant: Two again.", "user: c"]);
  expect(agent.model.rejections).toEqual([]);
});

test.each(["message", "answer"])("an answer is varied as often as requested, by the id of its %s", async (by) => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script(["One.", "Two.", "Three.", "Four."].map((words) => reply([text(words)])));
  const id = await user.say("a");
  await user.answerTo(id);
  const vary = async (words: string, more: { mode: "regenerate" } | { mode: "edit"; newContent: string }) => {
    const targetId = by === "message" ? id : (user.all("start_answer").at(-1)?.id ?? "");
    await user.send({ type: "control_variation", body: { targetId, ...more } });
    await user.next("assistant_sentence", (body) => body.text === words);
  };

  await vary("Two.", { mode: "edit", newContent: "b" });
  await vary("Three.", { mode: "regenerate" });
  await vary("Four.", { mode: "edit", newContent: "c" });

  expect(textOutline(agent)).toEqual(["user: c"]);
  expect(user.all("error_message")).toEqual([]);
  const started = user.all("start_answer");
  expect(started.map(({ previousId }) => previousId)).toEqual([id, id, id, id]);
  expect(started.map(({ replacesId }) => replacesId)).toEqual([undefined, ...started.slice(0, 3).map((one) => one.id)]);
});

test("an earlier message is answered again, with everything that followed it left out", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script(["One.", "Two.", "Three."].map((words) => reply([text(words)])));
  const id = await user.say("a");
  await user.answerTo(id);
  await user.send({ type: "control_variation", body: { targetId: id, mode: "continue" } });
  await user.next("assistant_sentence", (body) => body.text === "Two.");

  await user.send({ type: "control_variation", body: { targetId: id, mode: "regenerate" } });
  await user.next("assistant_sentence", (body) => body.text === "Three.");

  expect(textOutline(agent)).toEqual(["user: a"]);
});

test("edit replaces the words of a message", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script(["One.", "Two."].map((words) => reply([text(words)])));
  const id = await user.say("a");
  await user.answerTo(id);
  await user.send({ type: "control_variation", body: { targetId: id, mode: "edit", newContent: "A" } });
  await user.next("assistant_sentence", (body) => body.text === "Two.");
  expect(textOutline(agent)).toEqual(["user: A"]);
});

test("continue goes on from the conversation's current end", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script(["One.", "Two."].map((words) => reply([text(words)])));
  const id = await user.say("a");
  await user.answerTo(id);
  await user.send({ type: "control_variation", body: { targetId: id, mode: "continue" } });
  await user.next("assistant_sentence", (body) => body.text === "Two.");
  expect(textOutline(agent)).toEqual(["user: a", "assistant: One.", "user: Please continue."]);
});

test("a variation of an unknown message is a clear error", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  await user.send({ type: "control_variation", body: { targetId: "nope", mode: "regenerate" } });
  expect(await user.next("error_message")).toMatchObject({ code: 201 });
});

test("a client that comes back to a new worker gets the answers that it missed, in full", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  const other = await agent.client("other");
  agent.model.script(["One.", "Two. Three."].map((words) => reply([text(words)])));
  await user.answerTo(await user.say("a"));
  const lastSequenceSeen = user.received.at(-1)?.stanzaId ?? 0;
  await user.leave();
  const missed = await other.say("b");
  await other.answerTo(missed);
  await agent.leave();
  await agent.join();

  const again = await agent.client("user", { lastSequenceSeen });

  expect(again.all("assistant_message")).toMatchObject([{ previousId: missed, content: "Two. Three." }]);
  expect(again.all("error_message")).toEqual([]);
});

test("a client that reconnects gets what it missed again, unchanged", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script([reply([text("One. Two.")])]);
  await user.answerTo(await user.say("a"));
  const sentences = user.received.filter(({ message }) => message.type === "assistant_sentence");
  const lastSequenceSeen = sentences[0]?.stanzaId ?? 0;
  user.received.length = 0;
  await user.configure({ lastSequenceSeen });
  const repeated = user.received.filter(({ message }) => message.type === "assistant_sentence");
  expect(repeated).toEqual(sentences.slice(1));
});

test("events that showed an answer in progress do not displace what a client missed", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  await agent.client("viewer", { features: ["blocks"] });
  const lastSequenceSeen = Math.min(...user.received.map(({ stanzaId }) => stanzaId));
  agent.model.script([reply([text("All of it. ".repeat(60))], { chunking: 1 })]);
  await user.answerTo(await user.say("a"));
  const sentencesOf = () => user.received.filter(({ message }) => message.type === "assistant_sentence");
  const sentences = sentencesOf();
  user.received.length = 0;

  await user.configure({ lastSequenceSeen });

  await user.until(() => sentencesOf().length >= sentences.length, "all sentences again");
  expect(sentencesOf()).toEqual(sentences);
  expect([...user.all("assistant_message"), ...user.all("error_message")]).toEqual([]);
});

for (const [onDuplicate, runs, second] of [
  ["allow", 2, "run 2"],
  ["reuse", 1, "run 1"],
  ["reject", 1, "Not run: the same call was already made in this turn"],
] as const) {
  test(`a repeated call of a tool with onDuplicate ${onDuplicate} is shown, and runs ${runs} time(s) in all`, async () => {
    let count = 0;
    const order = defineTool({
      description: "O.",
      input: z.object({ n: z.number() }),
      onDuplicate,
      run: () => `run ${++count}`,
    });
    await using agent = await TestAgent.start({ tools: { order } });
    const user = await agent.client("user");
    agent.model.script([
      reply([toolUse("order", { n: 1 })]),
      reply([toolUse("order", { n: 1 })]),
      reply([text("Done.")]),
    ]);
    await user.answerTo(await user.say("Go"));
    expect(count).toBe(runs);
    expect(textOutline(agent).at(-1)).toBe(`user: ${second}`);
    const requested = user.all("tool_use_request").map(({ id }) => id);
    expect(requested).toHaveLength(2);
    expect(user.all("tool_use_result").map(({ id }) => id)).toEqual(requested);
  });
}

test("an edited message keeps what was attached to it", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script(["A dot.", "Black."].map((words) => reply([text(words)])));
  const attachments = [{ text: "A list", name: "list.txt" }];
  await user.send({ type: "user_message", body: { id: "m1", content: "What is this?", attachments } });
  await user.answerTo("m1");

  await user.send({ type: "control_variation", body: { targetId: "m1", mode: "edit", newContent: "Which color?" } });
  await user.next("assistant_sentence", (body) => body.text === "Black.");

  expect(messagesTo(agent)).toMatchObject([
    {
      content: [
        { type: "document", title: "list.txt" },
        { type: "text", text: "Which color?" },
      ],
    },
  ]);
});
