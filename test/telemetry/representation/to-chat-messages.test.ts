import { expect, test } from "vitest";
import { toolResultBlock } from "../../../src/conversation/block.ts";
import { type HistoryMessage, textBlock } from "../../../src/conversation/history.ts";
import { toStoredBlock } from "../../../src/llm/to-stored-block.ts";
import {
  toChatMessages,
  toFinishReason,
  toOutputMessage,
  toSystemInstructions,
} from "../../../src/telemetry/representation/to-chat-messages.ts";
import { toToolDefinitions } from "../../../src/telemetry/representation/to-tool-definitions.ts";

const OPTION_2 = { representation: "server_tool_call" } as const;
const use = toStoredBlock({ type: "tool_use", id: "toolu_1", name: "add", input: { a: 1 } });
const search = toStoredBlock({ type: "server_tool_use", id: "srv_1", name: "web_search", input: { query: "x" } });
const found = toStoredBlock({ type: "web_search_tool_result", tool_use_id: "srv_1", content: [] });

test("results have a message with the role tool, and the text after them one with the role user", () => {
  const history: HistoryMessage[] = [
    { role: "user", blocks: [textBlock("Hi")] },
    { role: "assistant", blocks: [use] },
    { role: "user", blocks: [toolResultBlock("toolu_1", { content: "3", isError: false }), textBlock("And?")] },
  ];

  expect(toChatMessages(history, OPTION_2)).toEqual([
    { role: "user", parts: [{ type: "text", content: "Hi" }] },
    { role: "assistant", parts: [{ type: "tool_call", id: "toolu_1", name: "add", arguments: { a: 1 } }] },
    { role: "tool", parts: [{ type: "tool_call_response", id: "toolu_1", response: "3" }] },
    { role: "user", parts: [{ type: "text", content: "And?" }] },
  ]);
});

test("changes in clients' tools are not a chat message", () => {
  const removal = { blockType: "tool_removal", textContent: null, content: { type: "tool_removal" } };
  const history: HistoryMessage[] = [
    { role: "user", blocks: [textBlock("Hi")] },
    { role: "system", blocks: [removal] },
  ];

  expect(toChatMessages(history, OPTION_2)).toEqual([{ role: "user", parts: [{ type: "text", content: "Hi" }] }]);
});

test("a message whose only part was joined to an earlier one is left out", () => {
  const history: HistoryMessage[] = [
    { role: "assistant", blocks: [search, use] },
    { role: "user", blocks: [toolResultBlock("toolu_1", { content: "3", isError: false })] },
    { role: "assistant", blocks: [found] },
  ];

  expect(toChatMessages(history, { representation: "server_tool" })).toMatchObject([
    { role: "assistant", parts: [{ type: "server_tool", status: "completed" }, { type: "tool_call" }] },
    { role: "tool", parts: [{ type: "tool_call_response" }] },
  ]);
});

test("an output message contains its finish reason", () => {
  expect(toOutputMessage([textBlock("So.")], toFinishReason("max_tokens"), OPTION_2)).toEqual({
    role: "assistant",
    parts: [{ type: "text", content: "So." }],
    finish_reason: "length",
  });
});

test.each([
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["refusal", "content_filter"],
  ["tool_use", "tool_call"],
  ["pause_turn", "pause_turn"],
  ["toString", "toString"],
  [undefined, "error"],
])("the stop reason %s is %s", (stopReason, finishReason) => {
  expect(toFinishReason(stopReason)).toBe(finishReason);
});

test("system instructions are text, and none are none", () => {
  expect(toSystemInstructions("Be kind.")).toEqual([{ type: "text", content: "Be kind." }]);
  expect(toSystemInstructions(" ")).toEqual([]);
  expect(toSystemInstructions(undefined)).toEqual([]);
});

test("tool definitions have a description and parameters only if they are asked for", () => {
  const tools = [{ name: "add", description: "Adds.", inputSchema: { type: "object" } }];
  const serverTools = [{ type: "web_search_20260318", name: "web_search", max_uses: 3 }];

  expect(toToolDefinitions({ tools, serverTools })).toEqual([
    { type: "web_search_20260318", name: "web_search" },
    { type: "function", name: "add" },
  ]);
  expect(toToolDefinitions({ tools }, { isDetailed: true })).toEqual([
    { type: "function", name: "add", description: "Adds.", parameters: { type: "object" } },
  ]);
});
