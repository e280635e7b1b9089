import { expect, test } from "vitest";
import { startModelServer } from "../../src/model-server/model-server.ts";
import {
  httpError,
  type Json,
  recorded,
  redactedThinking,
  reply,
  slow,
  text,
  thinking,
  toolUse,
} from "../../src/model-server/step.ts";
import { mixedCallsStream } from "../fixtures/model/mixed-calls.ts";
import { pauseTurnStream } from "../fixtures/model/pause-turn.ts";
import { searchResult, webSearchStream } from "../fixtures/model/web-search.ts";
import { forEachTest } from "../support/lifetimes.ts";

const server = forEachTest(startModelServer);

const SEARCH = { type: "web_search_20260318", name: "web_search" };
const BOOK = { name: "book", input_schema: { type: "object" } };
const say = (words: string) => ({ type: "text", text: words });
const use = (id: string) => ({ type: "tool_use", id, name: "book", input: {} });
const result = (id: string, content = "ok") => ({ type: "tool_result", tool_use_id: id, content });
const mark = { cache_control: { type: "ephemeral" } };
const user = (...content: Json[]) => ({ role: "user", content });
const assistant = (...content: Json[]) => ({ role: "assistant", content });

async function post(body: Json, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}/v1/messages`, {
    method: "POST",
    headers: { authorization: "Bearer k", "anthropic-version": "2026-10-21", ...headers },
    body: JSON.stringify({
      model: "claude-sonnet-5-5",
      max_tokens: 2000,
      stream: true,
      messages: [user(say("Hi"))],
      ...body,
    }),
  });
  return { status: response.status, body: await response.text() };
}

/** The error message of a refused request, or undefined for a valid one. */
async function refusal(body: Json): Promise<string | undefined> {
  const answer = await post(body);
  if (answer.status !== 400) return undefined;
  const { error } = JSON.parse(answer.body) as { error: { type: string; message: string } };
  expect(error.type).toBe("invalid_request_error");
  return error.message;
}

const refusalOf = (messages: Json[], body: Json = {}) => refusal({ tools: [BOOK], messages, ...body });
const go = user(say("Go"));

test("a missing result is refused in the API's words", async () => {
  expect(await refusalOf([go, assistant(use("toolu_1"), use("toolu_2")), user(result("toolu_1"))])).toBe(
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_2. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
  );
});

const REFUSED: readonly (readonly [string, Json[], RegExp])[] = [
  ["no messages", [], /at least one message/],
  ["an assistant's message first", [assistant(say("Hi")), go], /first message must use the "user" role/],
  ["an unanswered call at the end", [go, assistant(use("t1"))], /without `tool_result` blocks immediately after: t1/],
  ["text before the results", [go, assistant(use("t1")), user(say("Hm"), result("t1"))], /immediately after: t1/],
  [
    "a result one message late",
    [go, assistant(use("t1")), go, assistant(say("Hm")), user(result("t1"))],
    /immediately after: t1/,
  ],
  ["text after a call", [go, assistant(use("t1"), say("Hm")), user(result("t1"))], /immediately after: t1/],
  ["an orphaned result", [user(result("t9"))], /unexpected `tool_use_id` found in `tool_result` blocks: t9/],
  [
    "two results of one call",
    [go, assistant(use("t1")), user(result("t1"), result("t1"))],
    /multiple `tool_result` blocks with id: t1/,
  ],
  ["an id used twice in a message", [go, assistant(use("t1"), use("t1")), user(result("t1"))], /ids must be unique/],
  [
    "an id used twice in the history",
    [go, assistant(use("t1")), user(result("t1")), assistant(use("t1")), user(result("t1"))],
    /ids must be unique/,
  ],
  ["empty text", [user(say(""))], /text content blocks must be non-empty/],
  ["blank text", [user(say(" \n"))], /non-whitespace/],
  ["an empty message", [user()], /non-empty content/],
  ["an assistant's message last", [go, assistant(say("I"))], /does not support assistant message prefill/],
  [
    "a forged signature",
    [go, assistant({ type: "thinking", thinking: "a", signature: "b" }, say("Hi")), go],
    /Invalid `signature`/,
  ],
  ["a forged redaction", [go, assistant({ type: "redacted_thinking", data: "b" }, say("Hi")), go], /Invalid `data`/],
  ["a call by the user", [user(use("t1"))], /Input tag 'tool_use'/],
  ["an unknown block", [go, assistant({ type: "future_block" }), go], /Input tag 'future_block'/],
  ["an unknown field", [user({ ...say("Hi"), mood: 1 })], /text\.mood: Extra inputs are not permitted/],
  [
    "arguments that are no object",
    [go, assistant({ ...use("t1"), input: [] }), user(result("t1"))],
    /valid dictionary/,
  ],
  [
    "an empty error",
    [go, assistant(use("t1")), user({ ...result("t1", ""), is_error: true })],
    /content cannot be empty/,
  ],
  [
    "a server call without a result",
    [go, assistant({ ...use("srvtoolu_1"), type: "server_tool_use", name: "web_search" }), go],
    /`web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block/,
  ],
  [
    "a server result without a call",
    [go, assistant({ type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] }, say("Hi")), go],
    /unexpected `tool_use_id` found in `web_search_tool_result`/,
  ],
];

test.each(REFUSED)("%s is refused", async (_, messages, message) => {
  expect(await refusalOf(messages)).toMatch(message);
  expect(server.rejections).toHaveLength(1);
});

test.each([
  [{ temperature: 1 }, /temperature: Extra inputs/],
  [{ stream: false }, /stream/],
  [{ max_tokens: 0 }, /max_tokens/],
  [{ tools: [{ ...BOOK, name: "a b" }] }, /String should match pattern/],
  [{ tools: [BOOK, BOOK] }, /Tool names must be unique/],
  [{ tools: [{ name: "a" }] }, /input_schema: Field required/],
  [{ tool_choice: { type: "auto" } }, /only be specified while providing `tools`/],
  [{ tools: [BOOK], tool_choice: { type: "tool", name: "a" } }, /Tool 'a' not found/],
  [{ thinking: { type: "enabled", budget_tokens: 100 } }, /greater than or equal to 1024/],
  [{ thinking: { type: "enabled", budget_tokens: 2000 } }, /`max_tokens` must be greater than/],
  [{ tools: [BOOK], tool_choice: { type: "any" }, thinking: { type: "adaptive" } }, /forces tool use/],
  [{ messages: [user(...Array.from({ length: 5 }, () => ({ ...say("a"), ...mark })))] }, /maximum of 4 .* Found 5/],
  [{ messages: [go, assistant(use("t1")), user(result("t1"))] }, /must define tools/],
  [{ system: "" }, /non-empty/],
])("parameters %j are refused", async (body, message) => {
  expect(await refusal(body)).toMatch(message);
});

test("consecutive messages with the same role are one message", async () => {
  server.script([reply([text("Hi")])]);

  expect(
    await refusalOf([go, assistant(say("Hm")), assistant(use("t1")), user(result("t1")), user(say("and?"))]),
  ).toBeUndefined();
});

test("thinking must be sent back as it was written", async () => {
  server.script([reply([thinking("Hm"), redactedThinking("data"), toolUse("book", {}, "t1")]), reply([text("Hi")])]);
  const { body } = await post({ tools: [BOOK], thinking: { type: "adaptive" } });
  const signature = /"signature":"(sig_[^"]+)"/.exec(body)?.[1];
  const thought = { type: "thinking", thinking: "Hm", signature };
  const redacted = { type: "redacted_thinking", data: "data" };
  const after = (...blocks: Json[]) =>
    refusalOf([go, assistant(...blocks, use("t1")), user(result("t1"))], { thinking: { type: "adaptive" } });

  expect(await after({ ...thought, thinking: "Ha" }, redacted)).toMatch(/Invalid `signature`/);
  expect(await after(thought)).toMatch(/cannot be modified/);
  expect(await after()).toBeUndefined();
  expect(await after(thought, redacted)).toBeUndefined();
});

test("an assistant message may not end with thinking", async () => {
  server.script([reply([thinking("Hm")])]);
  const signature = /"signature":"(sig_[^"]+)"/.exec((await post({})).body)?.[1];

  expect(await refusalOf([go, assistant({ type: "thinking", thinking: "Hm", signature }), go])).toMatch(
    /final block .* cannot be `thinking`/,
  );
});

test("a paused turn is accepted only unchanged, and with its tool", async () => {
  server.script([recorded(pauseTurnStream), reply([text("Hi")])]);
  await post({ tools: [SEARCH] });
  const caller = { type: "direct" };
  const call = (id: string, query: string) => ({
    type: "server_tool_use",
    id,
    name: "web_search",
    input: { query },
    caller,
  });
  const paused = [
    say("This takes several searches."),
    call("srvtoolu_01Pause1", "quantum computing"),
    { type: "web_search_tool_result", tool_use_id: "srvtoolu_01Pause1", content: [searchResult] },
    call("srvtoolu_01Pause2", "quantum computing 2025"),
  ];

  expect(await refusalOf([go, assistant(...paused.slice(1))], { tools: [SEARCH] })).toMatch(/prefill/);
  expect(await refusalOf([go, assistant(...paused), go], { tools: [SEARCH] })).toMatch(/without a corresponding/);
  expect(await refusalOf([go, assistant(...paused)])).toMatch(/not in `tools`/);
  expect(await refusalOf([go, assistant(...paused)], { tools: [SEARCH] })).toBeUndefined();
});

test("mixed calls are answered only with results, followed by the server's result", async () => {
  server.script([recorded(mixedCallsStream), reply([text("Hi")])]);
  await post({ tools: [SEARCH] });
  const calls = [
    {
      type: "server_tool_use",
      id: "srvtoolu_01Mixed",
      name: "web_search",
      input: { query: "weather Zurich" },
      caller: { type: "direct" },
    },
    { type: "tool_use", id: "toolu_01Mixed", name: "read_calendar", input: { day: "today" } },
  ];
  const tools = [SEARCH, { ...BOOK, name: "read_calendar" }];
  const answered = user(result("toolu_01Mixed"));

  expect(await refusalOf([go, assistant(...calls), user(result("toolu_01Mixed"), say("and?"))], { tools })).toMatch(
    /without a corresponding/,
  );
  expect(await refusalOf([go, assistant(...calls), answered, assistant(say("Hm")), go], { tools })).toMatch(
    /without a corresponding/,
  );
  expect(await refusalOf([go, assistant(...calls), answered], { tools: [BOOK] })).toMatch(/not in `tools`/);
  expect(await refusalOf([go, assistant(...calls), answered], { tools })).toBeUndefined();
});

test("a server tool's result must be sent back verbatim", async () => {
  server.script([recorded(webSearchStream)]);
  await post({ tools: [SEARCH] });
  const call = {
    type: "server_tool_use",
    id: "srvtoolu_01WYG3ziw53XMcoyKL4XcZmE",
    name: "web_search",
    input: { query: "claude shannon birth date" },
    caller: { type: "direct" },
  };
  const changed = {
    type: "web_search_tool_result",
    tool_use_id: call.id,
    caller: { type: "direct" },
    content: [{ ...searchResult, encrypted_content: "x" }],
  };

  expect(await refusalOf([go, assistant(call, changed), go], { tools: [SEARCH] })).toMatch(
    /does not match the original response/,
  );
});

test("a call beyond the script fails loudly", async () => {
  const { status, body } = await post({});

  expect(status).toBe(500);
  expect(body).toContain("Model call 1 is not scripted");
  expect(server.unscriptedCount).toBe(1);
});

test("a refused request uses up no step", async () => {
  server.script([reply([text("Hi")])]);
  await post({ messages: [] });

  expect((await post({})).status).toBe(200);
});

test("a script may be a function that receives the request", async () => {
  server.script(async ({ body }, index) => (index === 1 ? httpError(529) : reply([text(String(body["model"]))])));

  expect((await post({ model: "m" })).body).toContain('"text":"m"');
  expect((await post({})).status).toBe(529);
});

test("a wrong key, a missing version and another path are refused", async () => {
  expect((await post({}, { authorization: "" })).status).toBe(401);
  const models = `${server.url}/v1/models`;
  expect((await fetch(models)).status).toBe(401);
  expect((await fetch(models, { headers: { "x-api-key": "k" } })).status).toBe(404);
  const response = await fetch(`${server.url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": "k" },
    body: "{}",
  });
  expect(response.status).toBe(400);
});

test("several servers run at once and close with open connections", async () => {
  await using other = await startModelServer();
  other.script([reply([text("Hi")], slow(10_000))]);
  const pending = fetch(`${other.url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": "k", "anthropic-version": "1" },
    body: JSON.stringify({ model: "m", max_tokens: 1, stream: true, messages: [go] }),
  });
  const response = await pending;
  expect(other.openCount).toBe(1);
  await other.close();

  await expect(response.text()).rejects.toThrow("terminated");
  expect(server.url).not.toBe(other.url);
  expect(other.abortedCount).toBe(1);
});
