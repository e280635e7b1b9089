import { expect, test } from "vitest";
import { z } from "zod";
import { ASK_USER } from "../../../src/protocol/forms/form.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import type { Participant } from "../../support/participant.ts";
import { announced } from "../../support/client-tool.ts";
import { PlainClient } from "../../support/plain-client.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";

const BOOK = reply([toolUse("book")]);
const DONE = reply([text("Done.")]);

const SCHEMA = z.object({
  guests: z.int().min(1).max(12).meta({ title: "How many people" }),
  place: z.enum(["inside", "garden"]).meta({ title: "Where" }),
  smoking: z.boolean().meta({ title: "Do you smoke" }),
  note: z.string().optional().meta({ title: "Anything else" }),
});

const book = ({ schema = SCHEMA, ...more }: { readonly schema?: z.ZodType; readonly idempotent?: boolean } = {}) => {
  const answers: unknown[] = [];
  const tool = defineTool({
    description: "Books a table.",
    input: z.object({}),
    timeoutMs: 500,
    ...more,
    run: async (_, { elicit }) => {
      answers.push(await elicit({ message: "I need to know a few things.", schema }));
      return "booked";
    },
  });
  return { tool, answers };
};

const hears = (user: Participant, question: string) =>
  user.next("assistant_sentence", ({ text: said }) => said.endsWith(question));

test("a participant without a device for forms is asked field by field, and its messages are the answers", async () => {
  const { tool, answers } = book();
  await using agent = await TestAgent.start({ tools: { book: tool } });
  const user = await agent.client("user");
  agent.model.script([BOOK, DONE]);
  const messageId = await user.say("Book a table");
  for (const [question, answer] of [
    ["I need to know a few things. How many people?", "There are 4 of us."],
    ["Where? inside or garden?", "In the garden, please"],
    ["Do you smoke? Yes or no?", "No, thanks"],
    ["Anything else? You can say skip.", "A quiet table"],
  ] as const) {
    await hears(user, question);
    await user.say(answer);
  }

  expect(await user.answerTo(messageId)).toContain("Done.");
  const content = { guests: 4, place: "garden", smoking: false, note: "A quiet table" };
  expect(answers).toEqual([{ action: "accept", content }]);
  expect(await agent.sql`select count(*)::int as count from turns`).toEqual([{ count: 1 }]);
  const calls = await agent.calls();
  expect(calls.map(({ name, execution_resolved: by }) => `${name} ${by}`)).toEqual([
    "book server",
    ...Array.from({ length: 4 }, () => `${ASK_USER} server`),
  ]);
  expect(agent.model.rejections).toEqual([]);
});

test("an invalid answer is asked for again with the reason, and a third one cancels", async () => {
  const { tool, answers } = book();
  await using agent = await TestAgent.start({ tools: { book: tool } });
  const user = await agent.client("user");
  agent.model.script([BOOK, DONE]);
  const messageId = await user.say("Book a table");
  await hears(user, "things. How many people?");
  await user.say("Some friends");
  await hears(user, "That does not fit. How many people?");
  await user.say("90");
  await hears(user, "That does not fit: expected a number up to 12. How many people?");
  await user.say("Well");

  await user.answerTo(messageId);
  expect(answers).toEqual([{ action: "cancel" }]);
});

test.each([
  ["en", "How many people?", "Never mind.", { action: "decline" }],
  ["de-DE", "How many people?", "Vergiss es!", { action: "decline" }],
])("in %s a participant refuses in words", async (...row) => {
  const [preferredLanguage, question, answer, expected] = row;
  const { tool, answers } = book();
  await using agent = await TestAgent.start({ tools: { book: tool } });
  const user = await agent.client("user", { preferredLanguage });
  agent.model.script([BOOK, DONE]);
  const messageId = await user.say("Book a table");
  await hears(user, question);
  await user.say(answer);

  await user.answerTo(messageId);
  expect(answers).toEqual([expected]);
});

test("silence is a cancel", async () => {
  const { tool, answers } = book();
  const permission = { rules: [], byVoice: false, waitMs: 300 };
  await using agent = await TestAgent.start({ tools: { book: tool }, policy: { permission } });
  const user = await agent.client("user");
  agent.model.script([BOOK, DONE]);

  await user.answerTo(await user.say("Book a table"));
  expect(answers).toEqual([{ action: "cancel" }]);
  expect(await agent.calls()).toMatchObject([{ name: "book" }, { error_code: "timeout" }]);
});

test("a telephone caller is not asked if the agent cannot speak and listen: that is a cancel immediately", async () => {
  const { tool, answers } = book();
  await using agent = await TestAgent.start({ tools: { book: tool } });
  await using caller = await PlainClient.join(agent.roomName, "caller", { kind: "sip" });
  agent.model.script([BOOK, DONE]);

  await caller.write("Book a table");

  await expect.poll(() => caller.heard, { timeout: 10_000 }).toEqual(["Done."]);
  expect(answers).toEqual([{ action: "cancel" }]);
  const form = { name: ASK_USER, state: "success", result: { action: "cancel" } };
  expect(await agent.calls()).toMatchObject([{ name: "book", state: "success" }, form]);
  expect(agent.model.rejections).toEqual([]);
});

test("a message from somebody else is not an answer", async () => {
  const { tool, answers } = book();
  await using agent = await TestAgent.start({ tools: { book: tool } });
  const user = await agent.client("user");
  const other = await agent.client("other");
  agent.model.script([BOOK, reply([text("Four what?")])]);
  await user.say("Book a table");
  await hears(user, "How many people?");

  expect(await other.answerTo(await other.say("4"))).toBe("Four what?");
  expect(answers).toEqual([]);
});

test("a client's tool with the same name that accepts no forms is not called", async () => {
  const { tool } = book();
  await using agent = await TestAgent.start({ tools: { book: tool } });
  const inputSchema = { type: "object", properties: { question: { type: "string" } }, required: ["question"] };
  const user = await agent.client("user", { tools: [announced(ASK_USER, { inputSchema })] });
  agent.model.script([BOOK, DONE]);
  await user.say("Book a table");

  await hears(user, "How many people?");
  expect(user.all("tool_use_request").map(({ toolName }) => toolName)).toEqual(["book"]);
});

test("for multiple choices the ones that were named are selected, and all are asked again if there are too many", async () => {
  const schema = z.object({
    extras: z
      .array(z.enum(["bread", "olives", "nuts"]))
      .max(2)
      .meta({ title: "What else" }),
  });
  const { tool, answers } = book({ schema });
  await using agent = await TestAgent.start({ tools: { book: tool } });
  const user = await agent.client("user");
  agent.model.script([BOOK, DONE]);
  const messageId = await user.say("Book a table");
  await hears(user, "You can name several: bread, olives, and nuts?");
  await user.say("All of them");
  await hears(user, "at most 2 items. What else? You can name several: bread, olives, and nuts?");
  await user.say("Nuts and some bread.");

  await user.answerTo(messageId);
  expect(answers).toEqual([{ action: "accept", content: { extras: ["bread", "nuts"] } }]);
});

test("a form without fields is a yes or no", async () => {
  const answers: unknown[] = [];
  const tool = defineTool({
    description: "Asks.",
    input: z.object({}),
    run: async (_, { elicit }) => {
      answers.push(await elicit({ message: "Shall I go on?", schema: z.object({}) }));
    },
  });
  await using agent = await TestAgent.start({ tools: { book: tool } });
  const user = await agent.client("user");
  agent.model.script([BOOK, DONE, BOOK, DONE]);
  for (const answer of ["Yes, please", "No"]) {
    const messageId = await user.say("Go on");
    user.received.length = 0;
    await hears(user, "Shall I go on? Yes or no?");
    await user.say(answer);
    await user.answerTo(messageId);
  }

  expect(answers).toEqual([{ action: "accept", content: {} }, { action: "decline" }]);
  expect(agent.model.rejections).toEqual([]);
});

test("after a worker died, answered fields are not asked again, and the open one is", async () => {
  const { tool, answers } = book({ idempotent: true });
  await using agent = await TestAgent.start({ tools: { book: tool } });
  const user = await agent.client("user");
  agent.model.script([BOOK, DONE]);
  await user.say("Book a table");
  await hears(user, "How many people?");
  await user.say("4");
  await hears(user, "Where? inside or garden?");
  await agent.leave();
  await agent.sql`
    update tool_calls set state = 'running', error_code = null, error_message = null, finished_at = null
    where state = 'error' or name = 'book'`;
  await agent.sql`update turns set state = 'running', finished_at = null`;
  await agent.sql`delete from turn_blocks where block_type = 'tool_result'`;

  user.received.length = 0;
  await agent.join();
  await user.configure({});
  await hears(user, "Where? inside or garden?");
  await user.say("inside");
  await hears(user, "Do you smoke? Yes or no?");
  await user.say("No");
  await hears(user, "Anything else? You can say skip.");
  await user.say("Skip");
  await user.next("assistant_sentence", ({ text: said }) => said === "Done.");

  expect(answers.at(-1)).toEqual({ action: "accept", content: { guests: 4, place: "inside", smoking: false } });
  expect(user.all("assistant_sentence").some(({ text: said }) => said.includes("How many"))).toBe(false);
});

test("the first words of a participant who comes back do not answer a form that the participant may not have seen", async () => {
  const { tool, answers } = book({ schema: z.object({ note: z.string().meta({ title: "A note" }) }) });
  await using agent = await TestAgent.start({ tools: { book: tool } });
  const user = await agent.client("user");
  await agent.client("other");
  agent.model.script([BOOK, reply([text("Welcome back.")])]);
  await user.say("Book a table");
  await hears(user, "A note?");
  await user.leave();

  const back = await agent.client("user");
  expect(await back.answerTo(await back.say("Hello again"))).toContain("Welcome back.");
  expect(answers).toEqual([]);
});
