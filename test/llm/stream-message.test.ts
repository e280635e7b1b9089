import { expect, test } from "vitest";
import { createModel } from "../../src/llm/stream-message.ts";
import { startModelServer } from "../../src/model-server/model-server.ts";
import {
  destroySocket,
  endWithoutStop,
  httpError,
  malformedToolJson,
  noHeaders,
  pingsOnly,
  rawBlock,
  recorded,
  reply,
  serverToolUse,
  sseError,
  stallAfter,
  text,
  thinking,
  toolUse,
  unknownBlock,
  unknownEvent,
} from "../../src/model-server/step.ts";
import { contextExceededStream, maxTokensInToolStream, refusalStream, stopDetails } from "../fixtures/model/stops.ts";
import { callModel, request, tool, toolResult, user } from "./call-model.ts";
import { forEachTest } from "../support/lifetimes.ts";

const server = forEachTest(startModelServer);

/**
 * How long the stream may be silent. The model server runs in this process, which is busy now and then. A shorter limit
 * would mistake that for silence.
 */
const IDLE_MS = 600;

const call = (options: Parameters<typeof callModel>[2] = {}) => callModel(server.url, [user("Hello")], options);

test("a plain answer streams to its message_stop", async () => {
  server.script([reply([text("Hello to you, too. How are you?")])]);

  const { events, stop } = await call();

  expect(events.map(({ type }) => type)).toEqual([
    "message_start",
    "block_start",
    "block_delta",
    "block_delta",
    "block_stop",
    "message_stop",
  ]);
  expect(stop).toMatchObject({ stopReason: "end_turn", usage: { outputTokens: expect.any(Number) } });
});

test("the key is sent in the authorization header, and the body asks for a stream", async () => {
  server.script([reply([text("Hi")])]);
  await call();

  expect(server.requests[0]).toMatchObject({ headers: { authorization: "Bearer test-key" }, body: { stream: true } });
});

test("calls to one model reuse a connection", async () => {
  server.script(() => reply([text("Hi")]));
  const model = createModel({ apiKey: "k", baseUrl: server.url });
  for (let count = 0; count < 10; count++) {
    await Array.fromAsync(model.stream(request([user("Hello")]), new AbortController().signal));
  }

  expect(server.abortedCount).toBe(0);
  expect(new Set(server.requests.map(({ connection }) => connection)).size).toBeLessThan(3);
});

test("a body that stays open after message_stop does not delay the answer", async () => {
  server.script([reply([text("Hi")], { fault: stallAfter(6) })]);
  const start = performance.now();

  await expect(call()).resolves.toMatchObject({ stop: { stopReason: "end_turn" } });
  expect(performance.now() - start).toBeLessThan(500);
});

test("a stream that ends without message_stop throws instead of ending", async () => {
  server.script([reply([text("Hello there, this is cut")], { fault: endWithoutStop(3) })]);

  await expect(call()).rejects.toMatchObject({ kind: "broken_stream", code: "unavailable" });
});

test("an incomplete tool call in a broken stream is never treated as complete", async () => {
  server.script([reply([toolUse("book", { city: "a long name" })], { chunking: 5, fault: destroySocket(4) })]);
  const model = createModel({ apiKey: "k", baseUrl: server.url });
  const seen: string[] = [];

  await expect(async () => {
    for await (const event of model.stream(request([user("Hello")]), new AbortController().signal))
      seen.push(event.type);
  }).rejects.toMatchObject({ kind: "broken_stream" });
  expect(seen).toEqual(["message_start", "block_start", "block_delta", "block_delta"]);
  expect(server.requests).toHaveLength(1);
});

test.each([
  stallAfter(1),
  destroySocket(1),
  endWithoutStop(1),
  sseError(1),
  pingsOnly(1),
  stallAfter(0),
  endWithoutStop(0),
])("a stream that breaks before its first block is retried once ($kind after $after)", async (fault) => {
  server.script([reply([text("lost")], { fault }), reply([text("Here")])]);

  const { events, blocks } = await call({ options: { idleTimeoutMs: IDLE_MS } });

  expect(blocks).toMatchObject([{ textContent: "Here" }]);
  expect(events.filter(({ type }) => type === "message_start")).toHaveLength(1);
  expect(server.requests).toHaveLength(2);
});

test("a stream that breaks twice before its first block fails", async () => {
  const broken = reply([text("lost")], { fault: sseError(1) });
  server.script([broken, broken]);

  await expect(call()).rejects.toMatchObject({ kind: "overloaded", status: undefined });
  expect(server.requests).toHaveLength(2);
});

test("an error event in the middle throws its kind and is not retried", async () => {
  server.script([reply([text("Some words")], { fault: sseError(3, "api_error") })]);

  await expect(call()).rejects.toMatchObject({ kind: "server_error" });
  expect(server.requests).toHaveLength(1);
});

test.each([stallAfter(3), pingsOnly(3)])("a silent body is cut off and not retried ($kind)", async (fault) => {
  server.script([reply([text("Some words")], { fault })]);
  const start = performance.now();

  await expect(call({ options: { idleTimeoutMs: IDLE_MS } })).rejects.toMatchObject({
    kind: "stalled",
    code: "unavailable",
  });

  expect(performance.now() - start).toBeGreaterThan(IDLE_MS - 5);
  expect(performance.now() - start).toBeLessThan(IDLE_MS + 900);
  expect(server.requests).toHaveLength(1);
  await expect.poll(() => server.requests[0]?.state).toBe("aborted");
});

test("events of unknown types do not keep a silent body alive", async () => {
  const insert = Array.from({ length: 100 }, (_, index) => unknownEvent(3 + index));
  server.script([reply([text("Some words")], { insert, slow: 15 })]);

  await expect(call({ options: { idleTimeoutMs: IDLE_MS } })).rejects.toMatchObject({ kind: "stalled" });
});

test("a server that never answers is cut off like a silent body, and retried once", async () => {
  server.script([noHeaders(), noHeaders()]);

  await expect(call({ options: { idleTimeoutMs: IDLE_MS } })).rejects.toMatchObject({ kind: "stalled" });
  expect(server.requests).toHaveLength(2);
});

test("a slow stream that makes progress is not cut off", async () => {
  server.script([reply([text("Some words that take their time")], { chunking: 1, slow: 40 })]);

  await expect(call({ options: { idleTimeoutMs: IDLE_MS } })).resolves.toMatchObject({
    stop: { stopReason: "end_turn" },
  });
});

test("a slow reader is not mistaken for a silent sender", async () => {
  server.script([reply([text("Some words that take their time")], { chunking: 10 })]);
  // The reader's pause is longer than this limit. A shorter limit could be exceeded by the sender, which runs in this
  // process and may be busy for a while.
  const model = createModel({ apiKey: "k", baseUrl: server.url, idleTimeoutMs: 500 });
  let count = 0;
  for await (const _ of model.stream(request([user("Hello")]), new AbortController().signal)) {
    count++;
    if (count === 2) await new Promise((resolve) => setTimeout(resolve, 1_000));
  }

  expect(count).toBe(8);
});

const hiddenThinking = rawBlock({ type: "thinking", thinking: "", signature: "" });
const search = serverToolUse("web_search", { query: "x" }, "srvtoolu_1");

test.each([hiddenThinking, search])("hidden thinking and server tools may be silent for longer (%#)", async (block) => {
  server.script([reply([block], { fault: stallAfter(2) })]);
  const start = performance.now();

  await expect(call({ options: { idleTimeoutMs: 400, quietTimeoutMs: 600 } })).rejects.toMatchObject({
    kind: "stalled",
  });
  expect(performance.now() - start).toBeGreaterThan(590);
});

test("thinking that is shown may not be silent for longer", async () => {
  server.script([reply([thinking("Some thoughts")], { fault: stallAfter(3) })]);
  const start = performance.now();

  await expect(call({ options: { idleTimeoutMs: IDLE_MS, quietTimeoutMs: 2_000 } })).rejects.toMatchObject({
    kind: "stalled",
  });
  expect(performance.now() - start).toBeLessThan(IDLE_MS + 900);
});

test.each([529, 500, 503, 504, 408, 429])("status %i is retried", async (status) => {
  server.script([httpError(status, undefined, { "retry-after-ms": "5" }), reply([text("Here")])]);

  await expect(call()).resolves.toMatchObject({ blocks: [{ textContent: "Here" }] });
});

test("the third overloaded response is an error", async () => {
  const overloaded = httpError(529, undefined, { "retry-after-ms": "1" });
  server.script([overloaded, overloaded, overloaded]);

  await expect(call()).rejects.toMatchObject({
    kind: "overloaded",
    status: 529,
    requestId: "req_3",
    code: "unavailable",
  });
  expect(server.requests).toHaveLength(3);
});

test("retry-after is obeyed", async () => {
  server.script([httpError(429, undefined, { "retry-after": "0.3" }), reply([text("Here")])]);
  await call();
  const [first, second] = server.requests;

  expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(295);
});

test("a retry-after beyond the budget fails at once", async () => {
  server.script([httpError(429, undefined, { "retry-after": "60" })]);
  const start = performance.now();

  await expect(call()).rejects.toMatchObject({ kind: "rate_limited", retryAfterMs: 60_000, retryable: true });
  expect(performance.now() - start).toBeLessThan(1000);
});

test.each([
  [400, "invalid_request", "invalid_state"],
  [401, "authentication", "not_allowed"],
  [402, "billing", "not_allowed"],
  [403, "permission", "not_allowed"],
  [404, "not_found", "invalid_state"],
  [413, "too_large", "too_large"],
  [422, "invalid_request", "invalid_state"],
])("status %i is %s, and requested only once", async (status, kind, code) => {
  server.script([httpError(status)]);

  await expect(call()).rejects.toMatchObject({ name: "ModelError", kind, code, status, retryable: false });
  expect(server.requests).toHaveLength(1);
});

test("a prompt that is too long for the model is a too_large error", async () => {
  server.script([
    { ...httpError(400), message: "prompt is too long: 215309 tokens > 200000 maximum" } as ReturnType<
      typeof httpError
    >,
  ]);

  await expect(call()).rejects.toMatchObject({ kind: "too_large", status: 400 });
});

test.each(["Your credit balance is too low to access the API.", "You have reached your specified API usage limits."])(
  "an invalid request error that refers to the account is a billing error: %s",
  async (message) => {
    server.script([{ ...httpError(400), message } as ReturnType<typeof httpError>]);

    await expect(call()).rejects.toMatchObject({ kind: "billing", status: 400 });
  },
);

test("x-should-retry overrules the status", async () => {
  server.script([httpError(500, undefined, { "x-should-retry": "false" })]);

  await expect(call()).rejects.toMatchObject({ kind: "server_error", retryable: false });
});

test("a refused connection has its own error kind", async () => {
  await server.close();

  await expect(call({ options: { maxRetries: 0 } })).rejects.toMatchObject({ kind: "connection", code: "unavailable" });
});

test("an error's message contains neither keys nor conversation content", async () => {
  server.script([{ ...httpError(400), message: "secret words" } as ReturnType<typeof httpError>]);

  await expect(call()).rejects.toThrow(/^The model call failed: invalid_request \(HTTP 400\)$/);
});

test("one refused history does not spoil the next call", async () => {
  const orphan = callModel(server.url, [user(toolResult("toolu_x", "late"))], { input: { tools: [tool("a")] } });
  await expect(orphan).rejects.toMatchObject({ kind: "invalid_request" });
  server.script([reply([text("Hi")])]);

  await expect(call()).resolves.toMatchObject({ stop: { stopReason: "end_turn" } });
  expect(server.rejections).toHaveLength(1);
});

test("arguments that max_tokens cuts off are marked as unusable", async () => {
  server.script([recorded(maxTokensInToolStream)]);

  const { events, stop } = await call({ input: { tools: [tool("write_file")] } });

  expect(stop).toMatchObject({ stopReason: "max_tokens" });
  expect(events).toContainEqual(
    expect.objectContaining({ type: "block_stop", index: 1, inputError: expect.stringContaining("not valid JSON") }),
  );
});

test.each(['{"a": ', "[1]", "nonsense", '{"a":1}}'])(
  "malformed arguments %s end the block, not the call",
  async (json) => {
    server.script([reply([malformedToolJson("book", json)])]);

    const { blocks, stop } = await call({ input: { tools: [tool("book")] } });

    expect(blocks).toMatchObject([{ content: { input: { _raw: json } } }]);
    expect(stop).toMatchObject({ stopReason: "tool_use" });
  },
);

test("two tool uses with one id are emitted as one", async () => {
  server.script([reply([toolUse("book", { n: 1 }, "toolu_same"), toolUse("book", { n: 2 }, "toolu_same")])]);

  const { blocks } = await call({ input: { tools: [tool("book")] } });

  expect(blocks).toMatchObject([{ content: { input: { n: 1 } } }]);
});

test("unknown events and blocks are accepted", async () => {
  const block = unknownBlock({ content: "x" });
  server.script([reply([block, text("Hi")], { insert: [unknownEvent(0), unknownEvent(3), unknownEvent(99)] })]);

  const { blocks } = await call();

  expect(blocks).toEqual([
    { blockType: "future_block", textContent: null, content: { type: "future_block", content: "x" } },
    { blockType: "text", textContent: "Hi", content: null },
  ]);
});

test("a refusal includes its details", async () => {
  server.script([recorded(refusalStream)]);

  await expect(call()).resolves.toMatchObject({ stop: { stopReason: "refusal", stopDetails } });
});

test("a full context is a stop reason, not an error", async () => {
  server.script([recorded(contextExceededStream)]);

  await expect(call()).resolves.toMatchObject({ stop: { stopReason: "model_context_window_exceeded" } });
});

test("words of several bytes survive any cut", async () => {
  const words = "Grüße an 世界 👩‍🚀 und zurück";
  server.script([reply([thinking(words), text(words)], { chunking: 1 })]);

  expect((await call()).blocks.map(({ textContent }) => textContent)).toEqual([words, words]);
});

test("twenty thousand pieces of arguments arrive complete", async () => {
  const input = { text: "x".repeat(59_989) };
  server.script([reply([toolUse("book", input)], { chunking: 3 })]);

  const { events, blocks } = await call({ input: { tools: [tool("book")] } });

  expect(events.filter(({ type }) => type === "block_delta")).toHaveLength(20_000);
  expect(blocks[0]?.content?.["input"]).toEqual(input);
});

test("a model whose tokens the endpoint cannot count is not tried again, and others are", async () => {
  await using other = await startModelServer({ counts: (name) => name !== "misspelt" });
  const model = createModel({ apiKey: "k", baseUrl: other.url });
  const count = (name: string) =>
    model.countTokens(request([user("Hello")], { model: name }), new AbortController().signal);

  const counts = [await count("misspelt"), await count("misspelt"), await count("claude-sonnet-5-5")];

  expect(counts).toEqual([undefined, undefined, expect.any(Number)]);
  expect(other.counted.map(({ model: name }) => name)).toEqual(["misspelt", "claude-sonnet-5-5"]);
});
