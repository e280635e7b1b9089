import { RoomServiceClient } from "livekit-server-sdk";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, inject, test } from "vitest";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";
import { outline } from "../../support/model-view.ts";
import type { Participant } from "../../support/participant.ts";

/** The sentences in all answers so far. */
const sentencesOf = (user: Participant) => user.all("assistant_sentence").flatMap(({ text: words }) => words || []);

const rooms = () => new RoomServiceClient(inject("livekitUrl"), inject("livekitApiKey"), inject("livekitApiSecret"));

test("during a silence the agent says its idle messages, step by step, and again after the next message", async () => {
  const idle = [
    { afterMs: 600, say: "Are you there?" },
    { afterMs: 600, say: "Hello?" },
  ];
  await using agent = await TestAgent.start({ agent: { idle } });
  const user = await agent.client("ana");
  await expect.poll(() => sentencesOf(user), { timeout: 5_000 }).toEqual(["Are you there?", "Hello?"]);
  agent.model.script([reply([text("Good.")])]);

  await user.answerTo(await user.say("I am."));

  await expect
    .poll(() => sentencesOf(user), { timeout: 5_000 })
    .toEqual(["Are you there?", "Hello?", "Good.", "Are you there?", "Hello?"]);
  expect(outline(agent).join("\n")).toContain("[Nobody has said anything for 1 s.]");
});

test("a running tool is not a silence", async () => {
  const slow = defineTool({
    description: "Is slow.",
    input: { type: "object" },
    run: async () => {
      await sleep(1_500);
      return {};
    },
  });
  await using agent = await TestAgent.start({
    agent: { idle: [{ afterMs: 500, say: "Are you there?" }] },
    tools: { slow },
  });
  const user = await agent.client("ana");
  agent.model.script([reply([toolUse("slow", {})]), reply([text("Done.")])]);

  const answer = await user.answerTo(await user.say("Go"));

  expect(answer).toBe("Done.");
  expect(sentencesOf(user)).toEqual(["Done."]);
  await expect.poll(() => sentencesOf(user), { timeout: 5_000 }).toEqual(["Done.", "Are you there?"]);
});

test("a tool in the background is not a silence either", async () => {
  const baked = Promise.withResolvers<string>();
  const bake = defineTool({
    description: "Bakes.",
    input: { type: "object" },
    background: true,
    onResult: "silent",
    run: () => baked.promise,
  });
  await using agent = await TestAgent.start({
    agent: { idle: [{ afterMs: 500, say: "Are you there?" }] },
    tools: { bake },
  });
  const user = await agent.client("ana");
  agent.model.script([reply([toolUse("bake", {})]), reply([text("It is in the oven.")])]);
  await user.answerTo(await user.say("Bake a cake"));
  await sleep(1_500);
  const meanwhile = sentencesOf(user);

  baked.resolve("golden");

  await expect.poll(() => sentencesOf(user), { timeout: 5_000 }).toEqual(["It is in the oven.", "Are you there?"]);
  expect(meanwhile).toEqual(["It is in the oven."]);
});

test("a permission question is not a silence", async () => {
  const act = defineTool({
    description: "Acts.",
    input: { type: "object" },
    permission: { type: "act", pattern: () => "it", title: () => "Do it" },
    run: () => ({}),
  });
  await using agent = await TestAgent.start({
    agent: { idle: [{ afterMs: 500, say: "Are you there?" }] },
    tools: { act },
  });
  const user = await agent.client("ana", { features: ["permissions"] });
  agent.model.script([reply([toolUse("act", {})]), reply([text("Done.")])]);
  const messageId = await user.say("Go");
  const { id: permissionId } = await user.next("permission_request");

  await sleep(1_200);
  expect(sentencesOf(user)).toEqual([]);
  await user.send({ type: "permission_response", body: { permissionId, response: "approve" } });

  expect(await user.answerTo(messageId)).toBe("Done.");
});

test("a form that is being filled in is not a silence", async () => {
  const book = defineTool({
    description: "Books.",
    input: { type: "object" },
    run: (_, { elicit }) => elicit({ message: "A table.", schema: { properties: { guests: { type: "integer" } } } }),
  });
  await using agent = await TestAgent.start({
    agent: { idle: [{ afterMs: 500, say: "Are you there?" }] },
    tools: { book },
  });
  const user = await agent.client("ana");
  agent.model.script([reply([toolUse("book", {})]), reply([text("Done.")])]);
  const messageId = await user.say("Book");
  const question = "A table. guests? You can say skip.";
  await user.next("assistant_sentence", ({ text: words }) => words === question);

  await sleep(1_200);
  await user.say("4");
  await user.answerTo(messageId);

  expect(sentencesOf(user)).toEqual([question, "Done."]);
});

test("the last step says goodbye and closes the room", async () => {
  await using agent = await TestAgent.start({ agent: { idle: [{ afterMs: 500, end: "Goodbye." }] } });
  const user = await agent.client("ana");

  await user.next("assistant_sentence", ({ text: words }) => words === "Goodbye.");

  await expect.poll(() => rooms().listRooms([agent.roomName]), { timeout: 5_000 }).toEqual([]);
});
