import { encode as pack } from "@msgpack/msgpack";
import { pino } from "pino";
import { expect, test } from "vitest";
import { z } from "zod";
import { createId } from "../../../src/lib/id.ts";
import { type MessageBody, MESSAGES } from "../../../src/protocol/messages/messages.ts";
import { MessageBudget } from "../../../src/session/participants/message-budget.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { decode, encode, fakeParticipant, FakeSession, lastUserText } from "../../support/doubles/fake-session.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";

const USER = fakeParticipant("user");

/** A tool whose permission is asked for in words, because the client shows no dialogs. */
const GUARDED = defineTool({
  description: "Writes.",
  input: z.object({}),
  permission: { type: "write", pattern: () => "it", title: () => "Write it" },
  run: async () => "written",
});

/** A room with one client, and the worker's messages to that client. */
function room(uses = 1, name = "scan") {
  const sent: ReturnType<typeof decode>["message"][] = [];
  const transcribed: string[] = [];
  const lines: Record<string, unknown>[] = [];
  const logger = pino(
    { level: "warn" },
    { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  let stanza = 0;
  const fake = new FakeSession({
    think: (history) =>
      lastUserText(history) === undefined
        ? { text: "Done." }
        : { uses: Array.from({ length: uses }, () => ({ name })) },
    publish: async (bytes) => {
      const { message, stanzaId } = decode(bytes);
      sent.push(message);
      if (message.type === "tool_use_request") onRequest(message.body, stanzaId);
    },
    transcribe: (text) => transcribed.push(text),
    tools: { guarded: GUARDED },
    logger,
  });
  let onRequest: (request: MessageBody<"tool_use_request">, stanzaId: number) => void = () => {};
  const say = (message: Parameters<typeof encode>[1], stanzaId = ++stanza) =>
    fake.session.handle({ type: "packet", from: USER, bytes: encode(stanzaId, message) });
  say({
    type: "configuration",
    body: { tools: [{ name: "scan", description: "S.", inputSchema: { type: "object" } }] },
  });
  const errors = () => sent.flatMap((message) => (message.type === "error_message" ? [message.body] : []));
  return {
    fake,
    say,
    errors,
    sent,
    transcribed,
    lines,
    onRequest: (handler: typeof onRequest) => void (onRequest = handler),
  };
}

const userMessage = (id = createId()) => ({ type: "user_message", body: { id, content: "Go" } }) as const;
/** A message that has no effect and gets no answer. */
const noise = { type: "audio_chunk", body: {} } as const;

test("a budget refills steadily, and a message that costs more than is left is paid for afterwards", () => {
  const budget = new MessageBudget();
  const taken = Array.from({ length: 300 }, () => budget.spend(1, 1_000)).filter(Boolean);
  expect(taken).toHaveLength(200);
  expect(budget.refuse("packet", 1_000)).toBe(1_000);
  expect(budget.refuse("packet", 1_999)).toBeUndefined();
  expect(Array.from({ length: 300 }, () => budget.spend(1, 2_000)).filter(Boolean)).toHaveLength(50);

  expect(budget.spend(256, 3_000)).toBe(true);
  expect(budget.spend(1, 7_000)).toBe(false);
  expect(budget.refuse("packet", 7_000)).toBe(1_000);
  expect(budget.spend(1, 8_200)).toBe(true);
});

test("ten seconds of twenty turns each, with a message and a result, lose nothing", async () => {
  using clock = new VirtualClock();
  const { fake, say, errors, onRequest } = room();
  onRequest(({ id }) => say({ type: "tool_use_result", body: { id, success: true, result: {} } }));
  for (let turn = 0; turn < 200; turn++) {
    say(userMessage());
    await clock.run(50);
  }
  await clock.run(1_000);

  expect(errors()).toEqual([]);
  expect(fake.recorder.settled.map(({ state }) => state)).toEqual(Array.from({ length: 200 }, () => "success"));
});

test("results for forty calls arrive, whatever else was sent before them", async () => {
  const { fake, say, errors, onRequest } = room(40);
  const requests: string[] = [];
  onRequest(({ id }) => void requests.push(id));
  say(userMessage());
  await expect.poll(() => requests).toHaveLength(40);
  for (const id of requests)
    for (let line = 0; line < 8; line++) say({ type: "tool_use_progress", body: { id, log: `line ${line}` } });
  for (const id of requests) say({ type: "tool_use_result", body: { id, success: true, result: {} } });

  await expect.poll(() => fake.recorder.settled.map(({ state }) => state)).toEqual(requests.map(() => "success"));
  await expect
    .poll(errors)
    .toMatchObject([{ code: 429, retryAfterMs: 1_000, originatingId: expect.any(String) as string }]);
});

test("a dropped message has no Ack, is reported once, and counts when it is sent again after the given time", async () => {
  using clock = new VirtualClock();
  const { say, errors, fake } = room();
  for (let count = 0; count < 250; count++) say(noise);
  const message = userMessage("late");
  say(message, 900);
  say(noise);
  await clock.run(10);
  expect(errors()).toMatchObject([
    { code: 429, retryAfterMs: 1_000 },
    { code: 429, retryAfterMs: 1_000, originatingId: "late" },
  ]);
  expect(fake.recorder.turns.size).toBe(0);

  await clock.run(1_000);
  say(message, 900);
  await clock.run(10);
  expect(errors()).toHaveLength(2);
  expect(fake.recorder.turns.size).toBe(1);
});

test("each of the first twenty dropped messages is reported, and can be sent again", async () => {
  using clock = new VirtualClock();
  const { say, errors } = room();
  for (let count = 0; count < 250; count++) say(noise);
  const ids = Array.from({ length: 30 }, (_, index) => `message_${index}`);
  for (const id of ids) say(userMessage(id));
  await clock.run(10);

  const named = errors().flatMap(({ code, originatingId = "" }) => (code === 429 ? originatingId : []));
  expect(named.filter((id) => id !== "")).toEqual(ids.slice(0, 20));
});

test("a flood of progress is reported once, and costs its participant no message", async () => {
  const { fake, say, errors, onRequest } = room();
  const requests: string[] = [];
  onRequest(({ id }) => void requests.push(id));
  say(userMessage());
  await expect.poll(() => requests).toHaveLength(1);
  const [id = ""] = requests;
  for (let line = 0; line < 400; line++) say({ type: "tool_use_progress", body: { id, log: `line ${line}` } });
  for (let count = 0; count < 100; count++) say(noise);
  say(userMessage("heard"));
  say({ type: "tool_use_result", body: { id, success: true, result: {} } });

  await expect.poll(() => fake.recorder.turns.size).toBe(2);
  expect(errors().filter(({ code }) => code === 429)).toMatchObject([{ originatingId: id }]);
});

test("progress costs no message, even if its body precedes its type, as in maps with sorted keys", async () => {
  const { fake, say, onRequest } = room();
  const requests: string[] = [];
  onRequest(({ id }) => void requests.push(id));
  say(userMessage());
  await expect.poll(() => requests).toHaveLength(1);
  const [id = ""] = requests;
  const type = MESSAGES.tool_use_progress.number;
  const bytes = pack({ body: { id, log: "line" }, conversationId: "", meta: {}, stanzaId: 0, type });
  for (let line = 0; line < 400; line++) fake.session.handle({ type: "packet", from: USER, bytes });
  say(userMessage("heard"));
  say({ type: "tool_use_result", body: { id, success: true, result: {} } });

  await expect.poll(() => fake.recorder.turns.size).toBe(2);
});

test.each([
  [
    "large packets",
    () => pack({ stanzaId: 0, conversationId: "", type: 99, meta: {}, body: { a: "x".repeat(400_000) } }),
  ],
  ["lists of tools", () => pack({ stanzaId: 0, conversationId: "", type: 12, meta: {}, body: { tools: named(64) } })],
])("a few %s cost as much as many messages", (_what, make) => {
  const { fake, errors } = room();
  for (let count = 0; count < 5; count++) fake.session.handle({ type: "packet", from: USER, bytes: make() });

  expect(errors().filter(({ code }) => code === 429)).toHaveLength(1);
});
const named = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `tool_${index}` }));

test("of tool lists that arrive in quick succession, only the last is read", async () => {
  using clock = new VirtualClock();
  const { say, errors } = room();
  for (let count = 0; count < 40; count++) {
    const tools = [{ name: `bad_${count}`, description: "", inputSchema: { type: "object", anyOf: [] } }];
    say({ type: "configuration", body: { tools } });
  }
  await clock.run(1_000);

  expect(errors().map(({ message }) => message)).toEqual([expect.stringContaining("bad_39")]);
});

test("messages that a client repeats are free once after it has joined, and then cost their size", async () => {
  let bytesSent = 0;
  const fake = new FakeSession({
    think: () => ({ text: "x".repeat(400_000) }),
    publish: async (bytes) => void (bytesSent += bytes.length),
  });
  let stanza = 0;
  const say = (message: Parameters<typeof encode>[1]) =>
    fake.session.handle({ type: "packet", from: USER, bytes: encode(++stanza, message) });
  say(userMessage());
  await expect.poll(() => bytesSent).toBeGreaterThan(400_000);
  const ask = async (times: number) => {
    bytesSent = 0;
    for (let count = 0; count < times; count++) say({ type: "configuration", body: { lastSequenceSeen: 0 } });
    await new Promise((resolve) => setTimeout(resolve, 200));
    return bytesSent;
  };

  expect(await ask(1)).toBeGreaterThan(400_000);
  expect(await ask(100)).toBeLessThan(1_300_000);
});

test("the answers to one open request are free once, and forged ones never", async () => {
  const { fake, say, errors, onRequest } = room();
  const requests: string[] = [];
  onRequest(({ id }) => void requests.push(id));
  say(userMessage());
  await expect.poll(() => requests).toHaveLength(1);
  const [id = ""] = requests;
  for (let count = 0; count < 300; count++)
    fake.session.handle({
      type: "packet",
      from: fakeParticipant("thief"),
      bytes: encode(count, { type: "tool_use_result", body: { id, success: true } }),
    });
  for (let count = 0; count < 300; count++) say({ type: "tool_use_result", body: { id: "none", success: true } });
  say({ type: "tool_use_result", body: { id, success: true } });

  await expect.poll(() => errors().filter(({ code }) => code === 429)).toHaveLength(2);
  await expect.poll(() => fake.recorder.settled.map(({ state }) => state)).toEqual(["success"]);
});

/** Uses up the client's whole budget for unsolicited messages, and more than is refilled during a test. */
function spendAll({ fake }: ReturnType<typeof room>): void {
  const bytes = pack({ stanzaId: 0, conversationId: "", type: 99, meta: {}, body: { a: "x".repeat(400_000) } });
  for (let count = 0; count < 5; count++) fake.session.handle({ type: "packet", from: USER, bytes });
}

const isSaid = ({ sent }: ReturnType<typeof room>, start: string) =>
  sent.some(({ type, body }) => type === "assistant_sentence" && body.text.startsWith(start));

test.each([
  [
    "a message",
    ({ say }: ReturnType<typeof room>) => say({ type: "user_message", body: { id: "yes", content: "Yes" } }),
  ],
  [
    "lk.chat",
    ({ fake }: ReturnType<typeof room>) => fake.session.handle({ type: "chat", from: USER, id: "yes", text: "Yes" }),
  ],
])(
  "a yes by %s to a question in words counts, whatever else was sent before, and is free once",
  async (_way, answer) => {
    const one = room(1, "guarded");
    one.say(userMessage());
    await expect.poll(() => isSaid(one, "Write it.")).toBe(true);
    spendAll(one);

    answer(one);

    await expect.poll(() => one.fake.recorder.settled.map(({ state }) => state)).toEqual(["success"]);
    await expect.poll(() => isSaid(one, "Done.")).toBe(true);
    one.fake.session.handle({ type: "chat", from: USER, id: "more", text: "Yes" });
    expect(one.fake.recorder.turns.size).toBe(1);
  },
);

test("a client that was told about too many packets is told about too many texts and streams as well", async () => {
  const one = room();
  spendAll(one);
  expect(one.errors()).toHaveLength(1);

  one.fake.session.handle({ type: "chat", from: USER, id: createId(), text: "Hi" });
  for (let count = 0; count < 2; count++) one.fake.session.handle({ type: "stream_refused", identity: "user" });

  await expect.poll(() => one.transcribed.filter((text) => text.startsWith("Too many messages"))).toHaveLength(1);
  const [, aboutStream, ...more] = one.errors();
  expect(more).toEqual([]);
  expect(aboutStream).toMatchObject({ code: 429, message: expect.stringContaining("stream") as string });
  expect(aboutStream?.retryAfterMs).toBeGreaterThan(1_000);
});

test("a user without the protocol who types too much is told once that it was ignored", async () => {
  const { fake, transcribed } = room();
  for (let count = 0; count < 300; count++)
    fake.session.handle({ type: "chat", from: USER, id: createId(), text: "Hi" });

  await expect.poll(() => transcribed.filter((text) => text.startsWith("Too many messages"))).toHaveLength(1);
});

test("a text from a sender without budget is refused unread, unless it answers a question in words", async () => {
  const one = room(1, "guarded");
  const isRead = () => {
    let isRefused = false;
    one.fake.session.handle({ type: "chat_opened", identity: "user", refuse: () => (isRefused = true) });
    return !isRefused;
  };
  one.say(userMessage());
  await expect.poll(() => isSaid(one, "Write it.")).toBe(true);
  expect(isRead()).toBe(true);
  spendAll(one);

  expect(isRead()).toBe(true);
  one.fake.session.handle({ type: "chat", from: USER, id: "yes", text: "Yes" });
  await expect.poll(() => one.fake.recorder.settled.map(({ state }) => state)).toEqual(["success"]);
  expect([isRead(), isRead()]).toEqual([false, false]);
  await expect.poll(() => one.transcribed.filter((text) => text.startsWith("Too many messages"))).toHaveLength(1);
});

test("thousands of bad packets cause two log lines, the second with their number", async () => {
  using clock = new VirtualClock();
  const { fake, lines } = room();
  for (let count = 0; count < 4_000; count++)
    fake.session.handle({ type: "packet", from: USER, bytes: Uint8Array.of(0xc1) });
  await clock.run(20_000);

  expect(lines).toMatchObject([
    { msg: "message dropped", reason: "malformed", code: "malformed" },
    { msg: "message dropped", reason: "rate_limited" },
    { msg: "message dropped, repeated", reason: "malformed", count: 197 },
    { msg: "message dropped, repeated", reason: "rate_limited", count: 3_801 },
  ]);
});
