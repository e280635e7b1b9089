import { expect, test } from "vitest";
import type { HistoryBlock } from "../../../src/conversation/history.ts";
import { toStoredBlock } from "../../../src/llm/to-stored-block.ts";
import type { MessagePart } from "../../../src/telemetry/representation/message-part.ts";
import { representationSchema } from "../../../src/telemetry/representation/representation.ts";
import { toMessageParts, toPartsByMessage } from "../../../src/telemetry/representation/to-message-parts.ts";
import { problemsBy, problemsOfPart } from "./part-problems.ts";
import { recordedTurn } from "./recorded-turn.ts";

const representations = representationSchema.options;
const idOf = (part: MessagePart) => ("id" in part && typeof part.id === "string" ? part.id : undefined);
const partNames = (parts: readonly MessagePart[]) =>
  parts.map((part) => [part.type, idOf(part)].filter(Boolean).join(" "));
const ofId = (parts: readonly MessagePart[], id: string) => parts.filter((part) => idOf(part) === id);
const isFunctionPart = ({ type }: MessagePart) => type === "tool_call" || type === "tool_call_response";

const functionParts = ["toolu_add", "toolu_notify"].map((id) => `tool_call ${id}`);
const functionResponses = ["toolu_notify", "toolu_add"].map((id) => `tool_call_response ${id}`);

test.each(representations)("every part of %s matches its schema", (representation) => {
  const parts = toMessageParts(recordedTurn, { representation });

  expect(parts.flatMap((part) => problemsOfPart(part, representation))).toEqual([]);
});

test.each([
  ["server_tool_call", "server_tool_call", "server_tool_call_response"],
  ["tool_call", "tool_call", "tool_call_response"],
] as const)("%s shows calls and responses separately, in the order of the blocks", (representation, call, response) => {
  expect(partNames(toMessageParts(recordedTurn, { representation }))).toEqual([
    "reasoning",
    "reasoning",
    "text",
    `${call} srv_search`,
    `${call} srv_code`,
    `${response} srv_code`,
    `${response} srv_search`,
    `${call} mcp_1`,
    `${response} mcp_1`,
    `${call} srv_fetch`,
    `${call} srv_new`,
    `${response} srv_new`,
    `${response} srv_lost`,
    "hologram",
    ...functionParts,
    ...functionResponses,
    "text",
  ]);
});

test.each(["server_tool", "server_tool_execution"] as const)("%s joins them by id at the call's position", (type) => {
  expect(partNames(toMessageParts(recordedTurn, { representation: type }))).toEqual([
    "reasoning",
    "reasoning",
    "text",
    `${type} srv_search`,
    `${type} srv_code`,
    `${type} mcp_1`,
    `${type} srv_fetch`,
    `${type} srv_new`,
    `${type} srv_lost`,
    "hologram",
    ...functionParts,
    ...functionResponses,
    "text",
  ]);
});

test("a joined part shows how its tool ended, and a part without a result is never shown as running", () => {
  const parts = toMessageParts(recordedTurn, { representation: "server_tool" });
  const statuses = parts.flatMap((part) => (part.type === "server_tool" ? [[part["id"], part["status"]]] : []));

  expect(Object.fromEntries(statuses)).toEqual({
    srv_search: "completed",
    srv_code: "completed",
    mcp_1: "failed",
    srv_fetch: "incomplete",
    srv_new: "completed",
    srv_lost: "failed",
  });
});

test("a result without its call is named by its type", () => {
  const [part] = ofId(toMessageParts(recordedTurn, { representation: "server_tool" }), "srv_lost");

  expect(part).toEqual({
    type: "server_tool",
    id: "srv_lost",
    name: "web_search",
    tool_response: {
      type: "web_search",
      content: { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" },
    },
    status: "failed",
  });
});

test("an unknown tool passes through with its type", () => {
  const parts = toMessageParts(recordedTurn, { representation: "server_tool_call" });

  expect(ofId(parts, "srv_new")).toEqual([
    {
      type: "server_tool_call",
      id: "srv_new",
      name: "teleport",
      server_tool_call: { type: "teleport", input: { to: "Mars" } },
    },
    {
      type: "server_tool_call_response",
      id: "srv_new",
      server_tool_call_response: { type: "teleport", content: { arrived: true } },
    },
  ]);
});

test("an MCP tool's call keeps its server, and its response its error", () => {
  const parts = toMessageParts(recordedTurn, { representation: "server_tool_call" });

  expect(ofId(parts, "mcp_1")).toMatchObject([
    { name: "echo", server_tool_call: { type: "mcp", server_name: "files", input: { text: "hi" } } },
    { server_tool_call_response: { type: "mcp", is_error: true, content: [{ text: "no such file" }] } },
  ]);
});

test.each(representations.filter((each) => each !== "tool_call"))(
  "function tools have their plain parts in %s",
  (representation) => {
    const parts = toMessageParts(recordedTurn, { representation }).filter(isFunctionPart);

    expect(parts).toEqual([
      { type: "tool_call", id: "toolu_add", name: "add", arguments: { a: 1, b: 2 } },
      { type: "tool_call", id: "toolu_notify", name: "show_notification", arguments: { message: "hi" } },
      { type: "tool_call_response", id: "toolu_notify", response: "client_disconnected", is_error: true },
      { type: "tool_call_response", id: "toolu_add", response: '{"sum":3}' },
    ]);
  },
);

test("in Option 1 function tools keep their arguments and add their type", () => {
  const parts = toMessageParts(recordedTurn, { representation: "tool_call" });

  expect(ofId(parts, "toolu_add")).toEqual([
    {
      type: "tool_call",
      id: "toolu_add",
      name: "add",
      arguments: { a: 1, b: 2 },
      tool_call: { type: "function", arguments: { a: 1, b: 2 } },
    },
    { type: "tool_call_response", id: "toolu_add", response: { type: "function", content: '{"sum":3}' } },
  ]);
});

test("Option 1's parts match the earlier schemas, too", () => {
  const parts = toMessageParts(recordedTurn, { representation: "tool_call" }).filter(isFunctionPart);
  const schemaOf = ({ type }: MessagePart) => (type === "tool_call" ? "request" : "response");
  const problems = parts.map((part) => problemsBy(`tool-call-${schemaOf(part)}-part.current.json`, part));

  expect(problems).toHaveLength(14);
  expect(problems.flat()).toEqual([]);
});

test("unknown times are omitted", () => {
  const timings = new Map([
    ["srv_search", { startedAt: 1_000_000_000_123 }],
    ["srv_code", { startedAt: Number.NaN, durationMs: -5 }],
  ]);
  const parts = toMessageParts(recordedTurn, { representation: "server_tool_execution", timings });

  expect(ofId(parts, "srv_search")).toMatchObject([
    { execution_metadata: { status: "completed", timestamp: "2001-09-09T01:46:40.123Z" } },
  ]);
  expect(ofId(parts, "srv_code").map((part) => "execution_metadata" in part && part.execution_metadata)).toEqual([
    { status: "completed" },
  ]);
});

test("a response in the next message joins its call", () => {
  const use = recordedTurn.filter((block) => block.content?.["tool_use_id"] === "srv_search");
  const [call = [], answer = []] = use.map((block): HistoryBlock[] => [block]);

  expect(toPartsByMessage([call, answer], { representation: "server_tool" })).toMatchObject([
    [{ id: "srv_search", status: "completed", tool_response: { type: "web_search" } }],
    [],
  ]);
});

test("parts without an id stay separate and show none", () => {
  const blocks = [
    toStoredBlock({ type: "server_tool_use", name: "web_search", input: {} }),
    toStoredBlock({ type: "web_search_tool_result", tool_use_id: "", content: [] }),
  ];

  expect(toMessageParts(blocks, { representation: "server_tool" })).toEqual([
    { type: "server_tool", name: "web_search", tool_call: { type: "web_search", input: {} }, status: "incomplete" },
    {
      type: "server_tool",
      name: "web_search",
      tool_response: { type: "web_search", content: [] },
      status: "completed",
    },
  ]);
});

test("if a model wrote something other than code, it is shown unchanged", () => {
  const use = { type: "server_tool_use", id: "srv_1", name: "code_interpreter", input: { _raw: "{" } };
  const [part] = toMessageParts([toStoredBlock(use)], { representation: "server_tool_call" });

  expect(part).toMatchObject({ server_tool_call: { type: "code_interpreter", input: { _raw: "{" } } });
});

test("of two responses with one id the first joins the call, and the other stays separate", () => {
  const response = (content: string) => toStoredBlock({ type: "x_tool_result", tool_use_id: "srv_1", content });
  const use = toStoredBlock({ type: "server_tool_use", id: "srv_1", name: "x", input: {} });
  const parts = toMessageParts([use, response("first"), response("second")], { representation: "server_tool" });

  expect(parts).toMatchObject([
    { tool_call: { type: "x" }, tool_response: { content: "first" } },
    { tool_response: { content: "second" } },
  ]);
  expect(parts[1]).not.toHaveProperty("tool_call");
});

test("the model's input cannot change the type of its call", () => {
  const input = { type: "function", code: "1" };
  const use = { type: "server_tool_use", id: "srv_1", name: "code_interpreter", input };
  const content = { type: "function", outputs: [] };
  const response = { type: "code_interpreter_tool_result", tool_use_id: "srv_1", content };
  const parts = toMessageParts([toStoredBlock(use), toStoredBlock(response)], { representation: "server_tool" });

  expect(parts).toMatchObject([
    { tool_call: { type: "code_interpreter", input }, tool_response: { type: "code_interpreter", content } },
  ]);
});
