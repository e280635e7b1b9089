import { expect, test } from "vitest";
import { planToolCalls, toOfferedTool } from "../../../src/worker/scripted/plan-tool-calls.ts";

const schema = (...names: string[]) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, {}])),
});
const ALL = [
  toOfferedTool("calculator", schema("expression")),
  toOfferedTool("get_time", schema("timeZone")),
  toOfferedTool("get_local_time", schema()),
  toOfferedTool("read_local_file", schema("filePath")),
  toOfferedTool("show_notification", schema("title", "message")),
  toOfferedTool("web_search", schema("query", "limit")),
];
const plan = (sentence: string, tools = ALL) =>
  planToolCalls(sentence, new Map(tools.map((tool) => [tool.name, tool])));

const SENTENCES: readonly [string, string, Record<string, unknown>][] = [
  ["what is 21 * 2?", "calculator", { expression: "21 * 2" }],
  ["What is twenty-one times two?", "calculator", { expression: "21 * 2" }],
  ["What is nineteen plus forty?", "calculator", { expression: "19 + 40" }],
  ["What is 3 plus 4?", "calculator", { expression: "3 + 4" }],
  ["what is (1+2)^3 - 4/2", "calculator", { expression: "(1+2)^3 - 4/2" }],
  ["Please work out 2.5 * 4, thank you", "calculator", { expression: "2.5 * 4" }],
  ["what time is it in Europe/Paris?", "get_time", { timeZone: "Europe/Paris" }],
  ["What time is it in New York?", "get_time", { timeZone: "America/New_York" }],
  ["What time is it?", "get_local_time", {}],
  ["read notes.txt", "read_local_file", { filePath: "notes.txt" }],
  ["Can you read the file ./docs/a.md?", "read_local_file", { filePath: "./docs/a.md" }],
  ["notify lunch is ready", "show_notification", { title: "Parley", message: "lunch is ready" }],
  ['show me a notification that says "hello there"', "show_notification", { title: "Parley", message: "hello there" }],
  ['use web_search {"query": "a, b and c", "limit": 3}', "web_search", { query: "a, b and c", limit: 3 }],
  ["Use get_local_time.", "get_local_time", {}],
  ["search for cats and dogs", "web_search", { query: "cats and dogs" }],
];

test.each(SENTENCES)("%s", (sentence, name, input) => {
  expect(plan(sentence)).toEqual([{ name, input }]);
});

test("several requests in one sentence are several calls, in order", () => {
  const calls = plan("what is 2 + 2, and what time is it in UTC and search for LiveKit");

  expect(calls.map((call) => call.name)).toEqual(["calculator", "get_time", "web_search"]);
});

test.each(["hello", "tell me a story", "what happened in 2026?", ""])("nothing is called for %j", (sentence) => {
  expect(plan(sentence)).toEqual([]);
});

test("a tool that is not offered is not called", () => {
  expect(plan("what is 21 * 2?", [])).toEqual([]);
});

test("without a local clock the server's clock is used, in UTC", () => {
  expect(plan("what time is it?", ALL.slice(0, 2))).toEqual([{ name: "get_time", input: { timeZone: "UTC" } }]);
});
