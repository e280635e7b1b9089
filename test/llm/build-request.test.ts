import { expect, test } from "vitest";
import type { HistoryMessage } from "../../src/conversation/history.ts";
import { startModelServer } from "../../src/model-server/model-server.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { assistant, callModel, request, tool, toolResult, user, WEB_SEARCH } from "./call-model.ts";
import { forEachTest } from "../support/lifetimes.ts";

const server = forEachTest(startModelServer);

const say = (words: string) => ({ blockType: "text", textContent: words, content: null });
const think = (words: string) => ({ blockType: "thinking", textContent: words, content: { signature: "sig" } });
const use = (id: string, name = "book") => ({
  blockType: "tool_use",
  textContent: null,
  content: { tool_use_id: id, tool_name: name, input: {} },
});

/** Where the cache marks are: `tools.1`, `system.0`, `0.0` for the first block of the first message. */
function marks({ tools = [], system = [], messages }: ReturnType<typeof request>): string[] {
  const marked = (path: string, list: unknown) =>
    (Array.isArray(list) ? list : []).flatMap((item: object, index) =>
      "cache_control" in item ? [`${path}.${index}`] : [],
    );
  return [
    ...marked("tools", tools),
    ...marked("system", system),
    ...messages.flatMap(({ content }, index) => marked(String(index), content)),
  ];
}

test("a request contains what it is given and nothing else", () => {
  expect(Object.keys(request([user("Hi")]))).toEqual(["model", "max_tokens", "messages"]);
  expect(request([user("Hi")], { effort: "low", containerId: "c" })).toMatchObject({
    output_config: { effort: "low" },
    container: "c",
  });
});

test("tools are sorted, so that their order never spoils the cache", () => {
  const names = (list: readonly string[]) =>
    request([user("Hi")], { tools: list.map(tool), serverTools: [WEB_SEARCH] }).tools?.map(
      (each) => "name" in each && each.name,
    );

  expect(names(["b", "a", "Z"])).toEqual(["web_search", "Z", "a", "b"]);
  expect(names(["Z", "b", "a"])).toEqual(names(["a", "b", "Z"]));
});

test("the last tool, the system text and the end of the first message are marked", () => {
  expect(marks(request([user("Hi")], { tools: [tool("a"), tool("b")], system: "Be brief." }))).toEqual([
    "tools.1",
    "system.0",
    "0.0",
  ]);
});

test("tools that come and go follow the others and their mark", () => {
  const tools = [{ ...tool("a"), isTemporary: true }, tool("b")];
  const sent = request([user("Hi")], { tools, serverTools: [WEB_SEARCH], system: "Be brief." });

  expect(sent.tools?.map((each) => "name" in each && each.name)).toEqual(["web_search", "b", "a"]);
  expect(marks(sent)).toEqual(["tools.1", "system.0", "0.0"]);
});

test("tool changes at the end of a history are marked, and so is the end of the previous request", () => {
  const removal = { role: "system" as const, blocks: [{ blockType: "tool_removal", textContent: null, content: {} }] };
  const history = [user("1"), removal, assistant(say("2")), user("3"), removal];

  expect(marks(request(history, { tools: [tool("book")] }))).toEqual(["tools.0", "1.0", "4.0"]);
});

test("a long history is marked at its end and at the end of the previous request", () => {
  const history = [user("1"), assistant(say("2")), user("3"), assistant(use("t1")), user(toolResult("t1", "4"))];

  expect(marks(request(history, { tools: [tool("book")], system: "Be brief." }))).toEqual([
    "tools.0",
    "system.0",
    "2.0",
    "4.0",
  ]);
});

test("a paused turn is marked at the last block that can have a mark", () => {
  const history = [user("1"), assistant(say("2"), think("hm"))];

  expect(marks(request(history))).toEqual(["0.0", "1.0"]);
});

test("no deferred tool is marked", () => {
  const deferred = { ...WEB_SEARCH, defer_loading: true };

  expect(marks(request([user("Hi")], { serverTools: [{ type: "x", name: "a" }, deferred] }))).toEqual([
    "tools.0",
    "0.0",
  ]);
});

test("a tool list that has become empty is replaced by the tools in the history", async () => {
  server.script([reply([text("I cannot any more.")])]);
  const history = [
    user("Go"),
    assistant(use("t1", "b"), use("t2", "a")),
    user(toolResult("t1", "1"), toolResult("t2", "2")),
  ];
  await callModel(server.url, history);

  expect(server.requests[0]?.body).toMatchObject({
    tools: [{ name: "a" }, { name: "b" }],
    tool_choice: { type: "none" },
  });
});

test("a history without tools needs no tool list, and no tool choice", () => {
  expect(request([user("Hi")], { toolChoice: { type: "none" } })).not.toHaveProperty("tool_choice");
});

test.each([
  [{ type: "adaptive" }, 4096, { type: "adaptive" }],
  [{ type: "disabled" }, 4096, { type: "disabled" }],
  [{ type: "enabled", budgetTokens: 2048 }, 4096, { type: "enabled", budget_tokens: 2048 }],
  [{ type: "enabled", budgetTokens: 9000 }, 4096, { type: "enabled", budget_tokens: 2048 }],
  [{ type: "enabled", budgetTokens: 9000 }, 2000, undefined],
  [{ type: "enabled", budgetTokens: 100 }, 4096, undefined],
] as const)("thinking %j with %i tokens is sent as %j", async (thinking, maxTokens, sent) => {
  server.script([reply([text("Hi")])]);
  await callModel(server.url, [user("Hi")], { input: { thinking, maxTokens } });

  expect(server.requests[0]?.body["thinking"]).toEqual(sent);
});

test("a forced tool call is requested without thinking", async () => {
  server.script([reply([toolUse("book")])]);
  const input = {
    tools: [tool("book")],
    thinking: { type: "enabled", budgetTokens: 2048 },
    toolChoice: { type: "any" },
  } as const;
  await callModel(server.url, [user("Hi")], { input });

  expect(server.requests[0]?.body).not.toHaveProperty("thinking");
});

test("each call in a conversation reads from the cache what the previous one wrote", async () => {
  server.script((_, index) => reply([text(`Answer ${index}, with some words.`)]));
  const history: HistoryMessage[] = [];
  const input = { tools: [tool("a")], system: "Be brief and kind." };
  let written = 0;
  for (let turn = 0; turn < 5; turn++) {
    history.push(user(`Question ${turn}?`));
    const { blocks, stop } = await callModel(server.url, history, { input });
    const { inputTokens, cacheReadTokens, cacheWriteTokens } = stop?.usage ?? {};
    expect({ inputTokens, cacheReadTokens }).toEqual({ inputTokens: 0, cacheReadTokens: written });
    written += cacheWriteTokens ?? 0;
    history.push(assistant(...blocks));
  }
  expect(written).toBeGreaterThan(100);
});

test("a step of sixty blocks is read from the cache as well", async () => {
  const ids = Array.from({ length: 30 }, (_, index) => `t${index}`);
  const input = { tools: [tool("book")] };
  server.script([reply([text("Hi")]), reply([text("Done.")])]);
  const first = await callModel(server.url, [user("Go")], { input });
  const history = [user("Go"), assistant(...ids.map((id) => use(id))), user(...ids.map((id) => toolResult(id, "ok")))];
  const second = await callModel(server.url, history, { input });

  expect(second.stop?.usage.cacheReadTokens).toBe(first.stop?.usage.cacheWriteTokens);
  expect(first.stop?.usage.cacheWriteTokens).toBeGreaterThan(0);
});
