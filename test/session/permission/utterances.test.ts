import { expect, test } from "vitest";
import { TestAgent } from "../../support/agent.ts";
import { guardedTool } from "../../support/guarded-tool.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import type { Participant } from "../../support/participant.ts";
import { toolResults } from "../../support/model-view.ts";

const BY_VOICE = { permission: { rules: [], byVoice: true, waitMs: 60_000 } };
const FEATURES = { features: ["permissions"] };
const isQuestion = ({ text: said }: { readonly text: string }) => said.endsWith("Yes or no?");
const WRITE = reply([toolUse("write", { path: "notes/a.md" })]);

test.each([
  ["en", "Write notes/a.md. Yes or no?", "Yes, please.", "wrote notes/a.md"],
  ["en", "Write notes/a.md. Yes or no?", "No no!", "Not run: the participant rejected it"],
  ["de-DE", "Write notes/a.md. Ja oder nein?", "Ja, gerne", "wrote notes/a.md"],
])("in %s, after %j a typed %j is the answer and no message", async (...row) => {
  const [preferredLanguage, question, answer, result] = row;
  const { tool } = guardedTool();
  await using agent = await TestAgent.start({ tools: { write: tool }, policy: BY_VOICE });
  const user = await agent.client("user", { preferredLanguage });
  agent.model.script([WRITE, reply([text("So be it.")])]);
  const messageId = await user.say("Write it");
  await user.next("assistant_sentence", ({ text: said }) => said === question);
  const said = await user.say(answer);
  expect(await user.answerTo(messageId)).toContain("So be it.");
  expect(toolResults(agent).map(({ content }) => content)).toEqual([result]);
  expect(user.all("start_answer").some(({ previousId }) => previousId === said)).toBe(false);
  expect(await agent.sql`select count(*)::int as count from turns`).toEqual([{ count: 1 }]);
  expect(await agent.sql`select replied_via from permissions`).toEqual([{ replied_via: "text" }]);
});

test("a sentence that does not answer is a message, and the question stays open", async () => {
  const { tool, ran } = guardedTool();
  await using agent = await TestAgent.start({ tools: { write: tool }, policy: BY_VOICE });
  const user = await agent.client("user");
  agent.model.script([WRITE, reply([text("A note.")]), reply([text("It is written.")])]);
  await user.say("Write it");
  await user.next("assistant_sentence", ({ text: said }) => said.endsWith("Yes or no?"));

  expect(await user.answerTo(await user.say("What would it write?"))).toBe("A note.");
  expect(ran).toEqual([]);
  await user.say("Yes");
  await user.next("assistant_sentence", ({ text: said }) => said === "It is written.");
  expect(ran).toEqual(["notes/a.md"]);
});

test.each([
  ["the tool takes none by voice", { voiceApproval: false }, BY_VOICE],
  ["they are switched off", {}, {}],
])("a yes is a message when %s", async (_, options, policy) => {
  const { tool, ran } = guardedTool(options);
  await using agent = await TestAgent.start({ tools: { write: tool }, policy });
  const user = await agent.client("user", { features: ["permissions"] });
  agent.model.script([WRITE, reply([text("Please use the dialog.")])]);
  await user.say("Write it");
  await user.next("permission_request");

  expect(await user.answerTo(await user.say("Yes"))).toBe("Please use the dialog.");
  expect(ran).toEqual([]);
});

test("a yes from somebody else is a message", async () => {
  const { tool, ran } = guardedTool();
  await using agent = await TestAgent.start({ tools: { write: tool }, policy: BY_VOICE });
  const user = await agent.client("user");
  const other = await agent.client("other");
  agent.model.script([WRITE, reply([text("Are you asked?")])]);
  await user.say("Write it");
  await user.next("assistant_sentence", ({ text: said }) => said.endsWith("Yes or no?"));

  expect(await other.answerTo(await other.say("Yes"))).toBe("Are you asked?");
  expect(ran).toEqual([]);
});

test("a question about a call that outlived its turn and its worker is repeated after the next answer", async () => {
  const { tool, ran } = guardedTool();
  await using agent = await TestAgent.start({ tools: { write: tool }, policy: BY_VOICE });
  const user = await agent.client("user", FEATURES);
  agent.model.script([WRITE, reply([text("A note.")]), reply([text("Yes?")]), reply([text("It is written.")])]);
  await user.say("Write it");
  await user.next("assistant_sentence", isQuestion);
  await user.answerTo(await user.say("What would it write?"));
  await agent.leave();
  await agent.join();
  user.received.length = 0;
  await user.configure(FEATURES);
  await user.next("permission_request");

  expect(await user.answerTo(await user.say("Yes"))).toBe("Yes? Write notes/a.md. Yes or no?");
  expect(ran).toEqual([]);
  await user.say("Yes");
  await user.next("assistant_sentence", ({ text: said }) => said === "It is written.");
  expect(ran).toEqual(["notes/a.md"]);
  expect(agent.model.rejections).toEqual([]);
});

test.each([
  // Leaves only once the answer has started, because a message that is sent just before leaving may not arrive.
  ["asked while its approver was away", 500, (user: Participant) => user.next("start_answer")],
  ["shown to an approver who has left since", 0, (user: Participant) => user.next("assistant_sentence", isQuestion)],
])("a yes on return does not approve a call that was %s, and the question is repeated", async (_, afterMs, before) => {
  const { tool, ran } = guardedTool();
  await using agent = await TestAgent.start({ tools: { write: tool }, policy: BY_VOICE });
  const user = await agent.client("user");
  await agent.client("other");
  agent.model.script([reply([toolUse("write", { path: "notes/a.md" })], { afterMs }), reply([text("Yes?")])]);
  await user.say("Write it");
  await before(user);
  await user.leave();
  await expect.poll(() => agent.sql`select state from permissions`, { timeout: 10_000 }).toEqual([{ state: "asked" }]);

  const back = await agent.client("user");
  expect(await back.answerTo(await back.say("Yes"))).toBe("Yes? Write notes/a.md. Yes or no?");
  expect(ran).toEqual([]);
});
