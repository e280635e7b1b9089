import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { guardedTool } from "../../support/guarded-tool.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { Participant } from "../../support/participant.ts";
import { toolResults } from "../../support/model-view.ts";

const WRITE = reply([toolUse("write", { path: "notes/a.md" })]);
const QUESTION = "Write notes/a.md. Yes or no?";
const isQuestion = ({ text: said }: { text: string }) => said === QUESTION;

test.each([
  ["yes", true, "wrote notes/a.md", ["notes/a.md"]],
  ["no", true, "Not run: the participant rejected it", []],
  ["yes", false, "wrote notes/a.md", ["notes/a.md"]],
])("a client without dialogs is asked in the answer, and its typed %j counts (voiceApproval: %s)", async (...row) => {
  const [answer, voiceApproval, result, runs] = row;
  const { tool, ran } = guardedTool({ voiceApproval });
  await using agent = await TestAgent.start({ tools: { write: tool } });
  const user = await agent.client("user");
  agent.model.script([WRITE, reply([text("So be it.")])]);
  const messageId = await user.say("Write it");
  await user.next("assistant_sentence", isQuestion);
  await user.say(answer);

  expect(await user.answerTo(messageId)).toBe(`${QUESTION} So be it.`);
  expect(toolResults(agent).map(({ content }) => content)).toEqual([result]);
  expect(ran).toEqual(runs);
  expect(await agent.sql`select replied_via from permissions`).toEqual([{ replied_via: "text" }]);
  expect(agent.model.rejections).toEqual([]);
});

test("a participant who only chats is asked on lk.transcription, and answers on lk.chat", async () => {
  const { tool, ran } = guardedTool();
  await using agent = await TestAgent.start({ tools: { write: tool } });
  await using user = await Participant.join(agent.roomName, "user");
  const shown: string[] = [];
  user.room.registerTextStreamHandler("lk.transcription", (reader) => {
    const read = async () => {
      for await (const chunk of reader) shown.push(chunk);
    };
    read().catch(() => {});
  });
  agent.model.script([WRITE, reply([text("It is written.")])]);
  const chat = (words: string) => user.room.localParticipant?.sendText(words, { topic: "lk.chat" });
  await chat("Write it");
  await expect.poll(() => shown.join(""), { timeout: 5_000 }).toContain(QUESTION);
  await chat("Yes");

  await expect.poll(() => shown.join(""), { timeout: 5_000 }).toContain("It is written.");
  expect(ran).toEqual(["notes/a.md"]);
});

test("a running tool's question is put into the answer as well", async () => {
  const visit = defineTool({
    description: "Visits a host.",
    input: z.object({}),
    run: async (_, { ask }) => {
      await ask({ type: "network", pattern: "a.example", title: "Visit a.example" });
      return "visited";
    },
  });
  await using agent = await TestAgent.start({ tools: { visit } });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("visit")]), reply([text("Done.")])]);
  const messageId = await user.say("Go");
  await user.next("assistant_sentence", ({ text: said }) => said === "Visit a.example. Yes or no?");
  await user.say("yes");

  await user.answerTo(messageId);
  expect(toolResults(agent)).toEqual([{ content: "visited", isError: false }]);
});

test("a call that its turn did not wait for is asked about outside of any turn", async () => {
  const mayAsk = Promise.withResolvers<void>();
  const bake = defineTool({
    description: "Bakes.",
    input: z.object({}),
    background: true,
    run: async (_, { ask }) => {
      await mayAsk.promise;
      await ask({ type: "oven", pattern: "gas", title: "Light the gas" });
      return "one cake";
    },
  });
  await using agent = await TestAgent.start({ tools: { bake } });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("bake")]), reply([text("It is in the oven.")]), reply([text("It is baked.")])]);
  expect(await user.answerTo(await user.say("Bake"))).toBe("It is in the oven.");
  await expect.poll(() => agent.sql`select from turns where state = 'completed'`).toHaveLength(1);
  mayAsk.resolve();
  await user.next("assistant_sentence", ({ text: said }) => said.includes("Light the gas."));
  await user.say("yes");

  await user.next("assistant_sentence", ({ text: said }) => said === "It is baked.");
  await expect.poll(() => agent.sql`select from turns`).toHaveLength(2);
  expect(agent.model.rejections).toEqual([]);
});

test("a client that shows dialogs is not asked in words, and a yes is a message", async () => {
  const { tool, ran } = guardedTool();
  await using agent = await TestAgent.start({ tools: { write: tool } });
  const user = await agent.client("user", { features: ["permissions"] });
  agent.model.script([WRITE, reply([text("Please use the dialog.")])]);
  await user.say("Write it");
  await user.next("permission_request");

  expect(await user.answerTo(await user.say("Yes"))).toBe("Please use the dialog.");
  expect(user.all("assistant_sentence").some(isQuestion)).toBe(false);
  expect(ran).toEqual([]);
});

/** Asks a client without dialogs about a request that is too long to be shown in full. */
async function askAtLength(agent: TestAgent, afterwards: string): Promise<Participant> {
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("write", { path: "n".repeat(600) })]), reply([text(afterwards)])]);
  await user.say("Write it");
  await user.next("assistant_sentence", ({ text: said }) => said.startsWith("Write nnn"));
  return user;
}

test("a question too long to be shown in full is shown, and accepts no yes where a yes by voice would not count", async () => {
  const { tool, ran } = guardedTool({ voiceApproval: false });
  await using agent = await TestAgent.start({ tools: { write: tool } });
  const user = await askAtLength(agent, "Pardon?");

  expect(await user.answerTo(await user.say("Yes"))).toBe("Pardon?");
  expect(ran).toEqual([]);
});

test("a question too long to be shown in full accepts a no", async () => {
  const { tool, ran } = guardedTool({ voiceApproval: false });
  await using agent = await TestAgent.start({ tools: { write: tool } });
  const user = await askAtLength(agent, "Then not.");

  await user.say("No");

  await user.next("assistant_sentence", ({ text: said }) => said === "Then not.");
  expect(ran).toEqual([]);
  expect(await agent.calls()).toMatchObject([{ error_code: "permission_denied" }]);
});
