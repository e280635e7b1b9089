import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { TestAgent } from "../../support/agent.ts";
import {
  redactedThinking,
  reply,
  serverToolResult,
  serverToolUse,
  text,
  thinking,
  toolUse,
  unknownBlock,
} from "../../../src/model-server/step.ts";
import { outline } from "../../support/model-view.ts";

const note = defineTool({ description: "N.", input: z.object({}), run: () => "noted" });

const types = (agent: TestAgent) => outline(agent, ({ type }) => type);

test("thinking keeps its signature through a tool loop and through the database", async () => {
  await using agent = await TestAgent.start({ tools: { note } });
  const user = await agent.client("user");
  agent.model.script([
    reply([thinking("I should note it."), redactedThinking("sealed"), text("One moment."), toolUse("note")]),
    reply([thinking("Noted."), text("Done.")]),
    reply([text("Hello again.")]),
  ]);
  expect(await user.answerTo(await user.say("a"))).toBe("One moment. Done.");
  await agent.leave();
  await agent.join();
  expect(await user.answerTo(await user.say("b"))).toBe("Hello again.");

  expect(types(agent)).toEqual([
    "user: text",
    "assistant: thinking, redacted_thinking, text, tool_use",
    "user: tool_result",
    "assistant: thinking, text",
    "user: text",
  ]);
  expect(agent.model.rejections).toEqual([]);
});

test("Anthropic's own tools, a pause and a mixed step are stored and replayed verbatim", async () => {
  await using agent = await TestAgent.start({
    tools: { note },
    serverTools: [{ type: "web_search_20260318", name: "web_search" }],
  });
  const user = await agent.client("user");
  const found = [
    { type: "web_search_result", url: "https://example.com", title: "E", encrypted_content: "abc", page_age: null },
  ];
  agent.model.script([
    reply([serverToolUse("web_search", { query: "a" }, "srvtoolu_1")], { stopReason: "pause_turn" }),
    reply([serverToolResult("web_search_tool_result", "srvtoolu_1", found), text("Found.")]),
    reply([serverToolUse("web_search", { query: "b" }, "srvtoolu_2"), toolUse("note")], { stopReason: "tool_use" }),
    reply([serverToolResult("web_search_tool_result", "srvtoolu_2", found), text("Both.")]),
    reply([text("Bye.")]),
  ]);
  expect(await user.answerTo(await user.say("a"))).toBe("Found.");
  expect(await user.answerTo(await user.say("b"))).toBe("Both.");
  await agent.leave();
  await agent.join();
  expect(await user.answerTo(await user.say("c"))).toBe("Bye.");

  expect(types(agent)).toEqual([
    "user: text",
    "assistant: server_tool_use, web_search_tool_result, text",
    "user: text",
    "assistant: server_tool_use, tool_use",
    "user: tool_result",
    "assistant: web_search_tool_result, text",
    "user: text",
  ]);
  expect(agent.model.rejections).toEqual([]);
});

test("an unknown block type is kept and sent back", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script([reply([unknownBlock({ data: 1 }), text("Hm.")]), reply([text("Yes.")])]);
  await user.answerTo(await user.say("a"));
  expect(await user.answerTo(await user.say("b"))).toBe("Yes.");
  expect(types(agent)[1]).toBe("assistant: future_block, text");
});

test("a refusal is said, stored and not retried", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script([reply([], { stopReason: "refusal" }), reply([text("Sure.")])]);
  expect(await user.answerTo(await user.say("a"))).toBe("I can't help with that.");
  expect(await user.answerTo(await user.say("b"))).toBe("Sure.");
  await agent.leave();
  expect(await agent.sql`select stop_reason from turns order by position`).toMatchObject([
    { stop_reason: "refusal" },
    { stop_reason: "end_turn" },
  ]);
});

test("a reply that reaches its limit is continued once, and then ended with a message", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script([
    reply([text("One two")], { stopReason: "max_tokens" }),
    reply([text("three four")], { stopReason: "max_tokens" }),
  ]);
  expect(await user.answerTo(await user.say("a"))).toBe("One two three four I have to stop here.");
  expect(agent.model.rejections).toEqual([]);
});

test("a tool call that the limit cut off is not run", async () => {
  let runs = 0;
  const order = defineTool({ description: "O.", input: z.object({}), run: () => ++runs });
  await using agent = await TestAgent.start({ tools: { order } });
  const user = await agent.client("user");
  agent.model.script([reply([toolUse("order")], { stopReason: "max_tokens" }), reply([text("I stop.")])]);
  expect(await user.answerTo(await user.say("a"))).toBe("I stop.");
  expect(runs).toBe(0);
  expect(await agent.calls()).toMatchObject([{ name: "order", state: "error", error_code: "not_run" }]);
});

test("a long conversation reads its history from the cache, and the turns' usage shows it", async () => {
  await using agent = await TestAgent.start({ tools: { note } });
  const user = await agent.client("user");
  const long = "A rather long sentence that fills the cache. ".repeat(400);
  agent.model.script([reply([text("One.")]), reply([toolUse("note")]), reply([text("Two.")])]);
  await user.answerTo(await user.say(long));
  await user.answerTo(await user.say("b"));
  await agent.leave();
  const usage = await agent.sql<
    { usage: { cacheReadTokens: number; cacheWriteTokens: number } }[]
  >`select usage from turns order by position`;
  expect(usage[0]?.usage.cacheWriteTokens).toBeGreaterThan(1_000);
  expect(usage[1]?.usage.cacheReadTokens).toBeGreaterThan(2 * 1_000);
});

test("a history that outgrew the model is shortened at a turn", async () => {
  await using agent = await TestAgent.start();
  const user = await agent.client("user");
  agent.model.script([
    reply([text("One.")]),
    reply([text("Two.")]),
    reply([text("Half")], { stopReason: "model_context_window_exceeded" }),
    reply([text("Three.")]),
  ]);
  for (const words of ["a", "b"]) await user.answerTo(await user.say(words));
  expect(await user.answerTo(await user.say("c"))).toContain("Three.");
  // The first message consists of the text that replaces the first turn, and the message of the second turn.
  expect(types(agent)[0]).toBe("user: text, text");
  expect(agent.model.requests.at(-1)?.body["messages"]).toHaveLength(5);
  expect(agent.model.rejections).toEqual([]);
});
