import { expect, test } from "vitest";
import type { HistoryBlock } from "../../src/conversation/history.ts";
import { toMessages } from "../../src/llm/to-messages.ts";
import { toStoredBlock } from "../../src/llm/to-stored-block.ts";
import type { JsonObject } from "../../src/lib/json.ts";
import { codeExecutionStream } from "../fixtures/model/code-execution.ts";
import { mixedAnswerStream, mixedCallsStream } from "../fixtures/model/mixed-calls.ts";
import { pauseTurnStream, resumedStream } from "../fixtures/model/pause-turn.ts";
import { redactedThinkingStream } from "../fixtures/model/stops.ts";
import { toolSearchStream } from "../fixtures/model/tool-search.ts";
import { webFetchStream } from "../fixtures/model/web-fetch.ts";
import { citation, webSearchErrorStream, webSearchStream } from "../fixtures/model/web-search.ts";
import { startModelServer } from "../../src/model-server/model-server.ts";
import {
  type Json,
  recorded,
  reply,
  serverToolResult,
  serverToolUse,
  text,
  thinking,
  toolUse,
  unknownBlock,
} from "../../src/model-server/step.ts";
import { assistant, callModel, tool, toolResult, user, WEB_SEARCH } from "./call-model.ts";
import { forEachTest } from "../support/lifetimes.ts";

const server = forEachTest(startModelServer);

/** The content of one message in one recorded request. */
function sentContent(index: number, message: number): Json[] {
  const messages = (server.requests[index]?.body["messages"] ?? []) as { readonly content: Json[] }[];
  return messages[message]?.content ?? [];
}

const API_BLOCKS: readonly JsonObject[] = [
  { type: "text", text: "Hi" },
  { type: "text", text: "Hi", citations: [citation] },
  { type: "thinking", thinking: "Hm", signature: "sig" },
  { type: "thinking", thinking: "", signature: "sig" },
  { type: "redacted_thinking", data: "data" },
  { type: "tool_use", id: "t1", name: "book", input: { a: 1 }, caller: { type: "direct" } },
  { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" }, caller: { type: "direct" } },
  {
    type: "web_search_tool_result",
    tool_use_id: "srvtoolu_1",
    content: [{ encrypted_content: "e" }],
    caller: { type: "direct" },
  },
  { type: "mcp_tool_use", id: "m1", name: "echo", server_name: "s", input: {} },
  { type: "mcp_tool_result", tool_use_id: "m1", is_error: false, content: [] },
  { type: "container_upload", file_id: "file_1" },
  { type: "future_block", anything: { at: ["all"] } },
];

test.each(API_BLOCKS)("a block of type $type is sent back as the API wrote it", (block) => {
  expect(toMessages([assistant(toStoredBlock(block))])).toEqual([{ role: "assistant", content: [block] }]);
});

const contentOf = (content: JsonObject) => {
  const block: HistoryBlock = {
    blockType: "tool_result",
    textContent: null,
    content: { tool_use_id: "t1", ...content },
  };
  return toMessages([user(block)])[0]?.content[0];
};

test("a tool result's text, error flag and blocks are sent unchanged", () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "" } };

  expect(contentOf({ content: "4" })).toEqual({ type: "tool_result", tool_use_id: "t1", content: "4" });
  expect(contentOf({ content: "no", is_error: true })).toMatchObject({ content: "no", is_error: true });
  expect(contentOf({ content: "4", is_error: false })).not.toHaveProperty("is_error");
  expect(contentOf({ content: [image] })).toMatchObject({ content: [image] });
});

test.each([
  [{ sum: 4 }, '{"sum":4}'],
  [[1, 2], "[1,2]"],
  [[], "[]"],
  [7, "7"],
  [null, ""],
])("a result that is neither text nor blocks is sent as JSON (%j)", (content, sent) => {
  expect(contentOf({ content })).toMatchObject({ content: sent });
});

test("an error without a text gets one, because the API refuses empty errors", () => {
  expect(contentOf({ content: "", is_error: true })).toMatchObject({ content: "The tool failed without a message." });
});

test("blocks are written identically whatever key order the database returns", () => {
  const block = (input: JsonObject): HistoryBlock => ({
    blockType: "tool_use",
    textContent: null,
    content: { tool_use_id: "t1", tool_name: "book", input },
  });
  const written = (input: JsonObject) => JSON.stringify(toMessages([assistant(block(input))]));

  expect(written({ from: { b: 1, a: [{ d: 1, c: null }] }, at: 2 })).toBe(
    written({ at: 2, from: { a: [{ c: null, d: 1 }], b: 1 } }),
  );
});

test("blank text is left out, and so is a message with nothing else", () => {
  expect(toMessages([user("Hi", " \n"), user("")])).toEqual([
    { role: "user", content: [{ type: "text", text: "Hi" }] },
  ]);
});

const CODE = { type: "code_execution_20260521", name: "code_execution" };
const FETCH = { type: "web_fetch_20260318", name: "web_fetch" };

test.each([
  ["web_search", webSearchStream, WEB_SEARCH],
  ["a failed web_search", webSearchErrorStream, WEB_SEARCH],
  ["web_fetch", webFetchStream, FETCH],
  ["code_execution", codeExecutionStream, CODE],
  ["redacted thinking", redactedThinkingStream, WEB_SEARCH],
])("%s is replayed in a form that the API accepts", async (_, stream, serverTool) => {
  server.script([recorded(stream), reply([text("You are welcome.")])]);
  const input = { serverTools: [serverTool] };
  const { blocks } = await callModel(server.url, [user("Go")], { input });

  await callModel(server.url, [user("Go"), assistant(...blocks), user("Thanks")], { input });

  const written = stream.flatMap((event) =>
    "content_block" in event ? [(event["content_block"] as Json)["type"]] : [],
  );
  expect(sentContent(1, 1).map(({ type }) => type)).toEqual(written);
});

test("a scripted server tool is replayed like a recorded one", async () => {
  const content = { type: "web_search_tool_result_error", error_code: "unavailable" };
  const blocks = [
    serverToolUse("web_search", { query: "x" }, "srvtoolu_1"),
    serverToolResult("web_search_tool_result", "srvtoolu_1", content),
    text("No luck."),
  ];
  server.script([reply(blocks), reply([text("Bye")])]);
  const input = { serverTools: [WEB_SEARCH] };
  const first = await callModel(server.url, [user("Go")], { input });
  await callModel(server.url, [user("Go"), assistant(...first.blocks), user("Thanks")], { input });

  expect(first.blocks.map(({ blockType }) => blockType)).toEqual(["server_tool_use", "server_tool_result", "text"]);
});

test("a request with code execution contains its container's id", async () => {
  server.script([recorded(codeExecutionStream)]);
  const { stop } = await callModel(server.url, [user("Go")], { input: { serverTools: [CODE] } });

  expect(stop).toMatchObject({ containerId: "container_011CPR5CNjB747bTd36fQLFk" });
});

test("a tool found by a search is called and answered", async () => {
  const input = {
    tools: [tool("get_weather")],
    serverTools: [{ type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" }],
  };
  server.script([recorded(toolSearchStream), reply([text("It is warm.")])]);
  const { blocks, stop } = await callModel(server.url, [user("Go")], { input });

  expect(stop).toMatchObject({ stopReason: "tool_use" });
  await callModel(server.url, [user("Go"), assistant(...blocks), user(toolResult("toolu_01XYZ789", "20°"))], { input });
});

test("a paused turn is sent back unchanged and resumed", async () => {
  server.script([recorded(pauseTurnStream), recorded(resumedStream), reply([text("Good.")])]);
  const input = { serverTools: [WEB_SEARCH] };
  const first = await callModel(server.url, [user("Go")], { input });
  expect(first.stop).toMatchObject({ stopReason: "pause_turn" });

  const second = await callModel(server.url, [user("Go"), assistant(...first.blocks)], { input });
  await callModel(server.url, [user("Go"), assistant(...first.blocks, ...second.blocks), user("Thanks")], { input });

  expect(server.rejections).toEqual([]);
});

test("mixed calls are answered only with the client's results", async () => {
  server.script([recorded(mixedCallsStream), recorded(mixedAnswerStream), reply([text("Good.")])]);
  const input = { tools: [tool("read_calendar")], serverTools: [WEB_SEARCH] };
  const first = await callModel(server.url, [user("Go")], { input });
  const answered = [user("Go"), assistant(...first.blocks), user(toolResult("toolu_01Mixed", "full"))];

  const second = await callModel(server.url, answered, { input });
  await callModel(server.url, [...answered, assistant(...second.blocks), user("Thanks")], { input });

  expect(server.rejections).toEqual([]);
});

test("thinking is replayed with its signature through a tool loop", async () => {
  server.script([reply([thinking("I need to check."), toolUse("book", {}, "toolu_a")]), reply([text("Done.")])]);
  const input = { tools: [tool("book")], thinking: { type: "enabled", budgetTokens: 2048 } } as const;
  const { blocks } = await callModel(server.url, [user("Go")], { input });

  await callModel(server.url, [user("Go"), assistant(...blocks), user(toolResult("toolu_a", "ok"))], { input });

  expect(sentContent(1, 1)[0]).toMatchObject({
    type: "thinking",
    thinking: "I need to check.",
    signature: expect.stringMatching(/^sig_/),
  });
});

test("an unknown block is replayed as it was received", async () => {
  server.script([reply([unknownBlock({ content: { deep: [1] } }), text("Hi")]), reply([text("Bye")])]);
  const { blocks } = await callModel(server.url, [user("Go")]);

  await callModel(server.url, [user("Go"), assistant(...blocks), user("Thanks")]);

  expect(sentContent(1, 1)[0]).toEqual({ type: "future_block", content: { deep: [1] } });
});
