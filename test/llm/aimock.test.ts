import { LLMock } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { toolUseId } from "../../src/conversation/block.ts";
import { assistant, callModel, tool, toolResult, user } from "./call-model.ts";

// A third-party mock. It agrees with ours about the stream, and checks histories independently.
const mock = new LLMock({ port: 0 });
beforeAll(async () => {
  mock.onMessage("hello", { content: "Hi there!", reasoning: "They greet me." });
  mock.onMessage("book", { toolCalls: [{ name: "book", arguments: '{"city":"Zurich"}' }] });
  await mock.start();
});
afterEach(() => void mock.clearChaos());
afterAll(() => mock.stop());

const retryBudgetMs = 0;

test("thinking and text are received, and accepted when sent back", async () => {
  const input = { thinking: { type: "enabled", budgetTokens: 2048 } } as const;
  const { blocks, stop } = await callModel(mock.url, [user("hello")], { input });

  expect(blocks.map(({ textContent }) => textContent)).toEqual(["They greet me.", "Hi there!"]);
  expect(stop).toMatchObject({ stopReason: "end_turn" });
  const next = callModel(mock.url, [user("hello"), assistant(...blocks), user("hello")], { input });
  await expect(next).resolves.toMatchObject({ stop: { stopReason: "end_turn" } });
});

test("a tool call is received, and its result is accepted", async () => {
  const input = { tools: [tool("book")] };
  const { blocks, stop } = await callModel(mock.url, [user("book")], { input });
  const id = toolUseId(blocks[0] ?? { content: null }) ?? "";

  expect(stop).toMatchObject({ stopReason: "tool_use" });
  expect(blocks).toMatchObject([{ content: { tool_name: "book", input: { city: "Zurich" } } }]);
  const history = [user("book"), assistant(...blocks), user(toolResult(id, "done"), "hello")];
  await expect(callModel(mock.url, history, { input })).resolves.toMatchObject({ stop: { stopReason: "end_turn" } });
});

test.each([
  [{ dropRate: 1 }, "server_error"],
  [{ malformedRate: 1 }, "broken_stream"],
  [{ disconnectRate: 1 }, "connection"],
  [{ rateLimitRate: 1 }, "rate_limited"],
])("chaos %j is an error of kind %s", async (chaos, kind) => {
  mock.setChaos(chaos);

  const failing = callModel(mock.url, [user("hello")], { options: { retryBudgetMs } });
  await expect(failing).rejects.toMatchObject({ kind, code: "unavailable", retryable: true });
});
