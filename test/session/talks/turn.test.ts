import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import { reply, text, toolUse } from "../../../src/model-server/step.ts";

const add = defineTool({
  description: "Adds.",
  input: z.object({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => ({ sum: a + b }),
});

test("a message is answered in sentences, and the turn is stored", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script([reply([text("Hello there. How are you?")])]);

  const messageId = await user.say("Hi");

  expect(await user.answerTo(messageId)).toBe("Hello there. How are you?");
  const sentences = user.all("assistant_sentence");
  expect(sentences.map(({ id, sequence, isFinal }) => [typeof id, sequence, isFinal])).toEqual([
    ["string", 1, false],
    ["string", 2, true],
  ]);
  await agent.leave();
  expect(await agent.blocks()).toMatchObject([{ turn: 1, sequence: 0, block_type: "text", content: null }]);
});

test("a server tool runs in the middle of a turn, and the turn continues with its result", async () => {
  await using agent = await TestAgent.start({ tools: { add } });
  const user = await agent.client("user");
  agent.model.script([
    reply([text("Let me see."), toolUse("add", { a: 1, b: 2 }, "toolu_1")]),
    reply([text("It is 3.")]),
  ]);

  const messageId = await user.say("1 + 2?");

  expect(await user.answerTo(messageId)).toBe("Let me see. It is 3.");
  const request = await user.next("tool_use_request");
  expect(request).toMatchObject({ toolName: "add", execution: "server", parameters: { a: 1, b: 2 } });
  expect(await user.next("tool_use_result")).toMatchObject({ id: request.id, success: true, result: { sum: 3 } });
  await agent.leave();
  expect(await agent.blocks()).toMatchObject([
    { sequence: 0, block_type: "text", text_content: "Let me see." },
    {
      sequence: 1,
      block_type: "tool_use",
      content: { tool_use_id: "toolu_1", tool_name: "add", input: { a: 1, b: 2 } },
    },
    {
      sequence: 2,
      block_type: "tool_result",
      content: { tool_use_id: "toolu_1", content: '{"sum":3}', is_error: false },
    },
    { sequence: 3, block_type: "text", text_content: "It is 3." },
  ]);
  expect(agent.model.rejections).toEqual([]);
});

test("a client tool pauses the turn until its result arrives", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user", {
    tools: [{ name: "read_file", description: "Reads.", inputSchema: { type: "object" } }],
  });
  agent.model.script([reply([toolUse("read_file", { path: "a.txt" })]), reply([text("It says hello.")])]);

  const messageId = await user.say("Read it");
  const request = await user.next("tool_use_request");
  expect(request).toMatchObject({ toolName: "read_file", execution: "client", timeoutMs: 30_000 });
  expect(agent.model.requests).toHaveLength(1);
  await user.answer(request.id, { success: true, result: { content: "hello" } });

  expect(await user.answerTo(messageId)).toBe("It says hello.");
  expect(agent.model.rejections).toEqual([]);
});
