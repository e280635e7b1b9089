import { expect, test } from "vitest";
import type { Parley } from "../../src/client/index.ts";
import type { MemoryRoom } from "../support/doubles/memory-transport.ts";
import { openClient } from "./open-client.ts";

/** Plays the worker: answers each user message with these sentences. */
function answerWith(room: MemoryRoom, texts: readonly string[]): void {
  let answered = 0;
  const check = () => {
    const messages = room.all("user_message");
    for (const { id } of messages.slice(answered)) {
      answered += 1;
      const answerId = `answer-${answered}`;
      room.say({ type: "start_answer", body: { id: answerId, previousId: id } });
      for (const [index, text] of texts.entries()) {
        const isFinal = index === texts.length - 1;
        const body = { id: `s${answered}-${index}`, previousId: answerId, sequence: index + 1, text, isFinal };
        room.say({ type: "assistant_sentence", body });
      }
    }
    return false;
  };
  void room.until(check, 1_000).catch(() => {});
}

test("a text is a user message, and resolves once the worker has received it", async () => {
  const { room, parley } = await openClient();

  const { messageId, acknowledged } = parley.sendText("Hello there");
  await acknowledged;

  expect(room.all("user_message")).toEqual([{ id: messageId, content: "Hello there" }]);
});

test("an answer from an older worker, which counts its sentences from 0, is received in full", async () => {
  const { room, parley } = await openClient();
  const asked = parley.ask("Hi");
  await room.until(() => room.all("user_message").length === 1);
  const [{ id: previousId } = { id: "" }] = room.all("user_message");
  room.say({ type: "start_answer", body: { id: "a", previousId } });
  for (const [sequence, text] of ["One.", "Two.", "Three."].entries())
    room.say({ type: "assistant_sentence", body: { previousId: "a", sequence, text, isFinal: sequence === 2 } });

  expect(await asked).toMatchObject({ sentences: ["One.", "Two.", "Three."] });
});

test("sentences and errors from an older worker, which have no id, are received", async () => {
  const { room, parley } = await openClient();
  const codes: number[] = [];
  parley.on("error", ({ code }) => codes.push(code));

  const asked = parley.ask("Hello");
  await room.until(() => room.all("user_message").length === 1);
  const [{ id: previousId } = { id: "" }] = room.all("user_message");
  room.say({ type: "start_answer", body: { id: "a1", previousId } });
  room.say({ type: "assistant_sentence", body: { previousId: "a1", sequence: 1, text: "Hi.", isFinal: true } });
  room.say({ type: "error_message", body: { code: 102, message: "m", severity: 1, recoverable: true } });

  expect((await asked).text).toBe("Hi.");
  expect(codes).toEqual([102]);
});

test("texts keep their order, and follow the tools registered before them", async () => {
  const { room, parley } = await openClient();

  parley.registerTool({ name: "t", description: "", input: { type: "object" }, run: () => 0 });
  const sent = ["one", "two", "three"].map((text) => parley.sendText(text).acknowledged);
  await Promise.all(sent);

  expect(room.heard.slice(1).map(({ message }) => message.type)).toEqual([
    "configuration",
    "user_message",
    "user_message",
    "user_message",
  ]);
  expect(room.all("user_message").map(({ content }) => content)).toEqual(["one", "two", "three"]);
});

test("a text that was not acknowledged before a reconnect is sent again with the same id", async () => {
  const { room, parley } = await openClient();
  room.acknowledges = false;
  const { acknowledged } = parley.sendText("Hello");
  await room.until(() => room.all("user_message").length === 1);

  room.acknowledges = true;
  room.disconnect();
  room.connect();
  await acknowledged;

  const ids = room.all("user_message").map(({ id }) => id);
  expect(ids).toHaveLength(2);
  expect(new Set(ids).size).toBe(1);
});

test("a text that is not acknowledged is repeated as a byte stream", { timeout: 10_000 }, async () => {
  const { room, parley } = await openClient();
  room.acknowledges = false;
  const { acknowledged } = parley.sendText("Hi");
  await room.until(() => room.all("user_message").length === 1);
  room.acknowledges = true;

  await acknowledged;
  const sent = room.heard.filter(({ message }) => message.type === "user_message");
  expect(sent.map(({ way }) => way)).toEqual(["packet", "stream"]);
});

test("an empty text is refused", async () => {
  const { parley } = await openClient();

  expect(() => parley.sendText("  ")).toThrow(TypeError);
});

test("stop sends a ControlStop", async () => {
  const { room, parley } = await openClient();

  parley.stop({ reason: "enough", stopType: "all" });
  await room.until(() => room.all("control_stop").length === 1);

  expect(room.all("control_stop")).toEqual([{ reason: "enough", stopType: "all" }]);
});

test("cancelCall sends the call's id, and resolves once the worker has received the request", async () => {
  const { room, parley } = await openClient();

  await parley.cancelCall("call_1");

  expect(room.all("control_stop")).toEqual([{ targetId: "call_1" }]);
});

test.each<[string, (parley: Parley) => Promise<void>]>([
  ["cancelCall", (parley) => parley.cancelCall("id_1")],
  ["vary", (parley) => parley.vary({ targetId: "id_1", mode: "regenerate" })],
  ["respondToPermission", (parley) => parley.respondToPermission("id_1", "once")],
])("%s rejects with the worker's error for that id", async (_name, request) => {
  const { room, parley } = await openClient();
  room.acknowledges = false;
  const requested = request(parley);
  await room.until(() => room.heard.length === 2);

  refuse(room, "id_2", "Another one");
  refuse(room, "id_1", "No such thing");

  await expect(requested).rejects.toMatchObject({ code: "conversation_not_found", message: "No such thing" });
});

test("a text that the worker refuses is not acknowledged", async () => {
  const { room, parley } = await openClient();
  room.acknowledges = false;
  const { messageId, acknowledged } = parley.sendText("Hello");
  await room.until(() => room.all("user_message").length === 1);

  refuse(room, messageId, "Not taken");

  await expect(acknowledged).rejects.toMatchObject({ code: "conversation_not_found", message: "Not taken" });
});

function refuse(room: MemoryRoom, originatingId: string, message: string): void {
  const body = { id: "e", code: 201, severity: 2, recoverable: true, message, originatingId } as const;
  room.say({ type: "error_message", body });
}

test("a client that does not listen says so, and again in each Configuration until it listens", async () => {
  const { room, parley } = await openClient();
  const sentListens = () => room.all("configuration").map(({ listens }) => listens);

  parley.listen(false);
  await expect.poll(sentListens).toEqual([undefined, false]);
  parley.registerTool({ name: "echo", description: "Echoes.", input: { type: "object" }, run: () => {} });
  await expect.poll(sentListens).toEqual([undefined, false, false]);
  parley.listen(true);

  await expect.poll(sentListens).toEqual([undefined, false, false, undefined]);
});

test("a client that plays no sound says so in its first Configuration, and may listen later", async () => {
  const { room, parley } = await openClient({ listens: false });
  const sentListens = () => room.all("configuration").map(({ listens }) => listens);

  expect(sentListens()).toEqual([false]);
  parley.listen(true);
  await expect.poll(sentListens).toEqual([false, undefined]);
});

test("ask resolves to the whole answer", async () => {
  const { room, parley } = await openClient();
  answerWith(room, ["It is noon.", "Have lunch."]);

  const answer = await parley.ask("What time is it?", { timeoutMs: 1_000 });

  expect(answer).toMatchObject({ text: "It is noon. Have lunch.", sentences: ["It is noon.", "Have lunch."] });
});

test("ask collects the results of the answer's calls", async () => {
  const { room, parley } = await openClient();
  const asking = parley.ask("2 + 2?", { timeoutMs: 1_000 });
  await room.until(() => room.all("user_message").length === 1);
  const previousId = room.all("user_message")[0]?.id ?? "";

  room.say({ type: "start_answer", body: { id: "a", previousId } });
  room.request({ id: "r1", messageId: "a", toolName: "calculator", execution: "server" });
  room.say({ type: "tool_use_result", body: { id: "r1", success: true, result: { answer: 4 } } });
  room.say({ type: "assistant_sentence", body: { id: "s", previousId: "a", sequence: 1, text: "4.", isFinal: true } });

  expect((await asking).toolResults).toEqual([
    { id: "r1", success: true, result: { answer: 4 }, toolName: "calculator", ranBy: "server" },
  ]);
});

test("an answer that another worker has finished meanwhile, and that arrives whole, is returned once", async () => {
  const { room, parley } = await openClient();
  const ends: string[] = [];
  parley.on("answer_end", ({ text }) => ends.push(text));
  const asking = parley.ask("Are you there?", { timeoutMs: 2_000 });
  await room.until(() => room.all("user_message").length === 1);
  const previousId = room.all("user_message")[0]?.id ?? "";
  room.say({ type: "start_answer", body: { id: "a", previousId } });

  for (let times = 0; times < 2; times++)
    room.say({ type: "assistant_message", body: { id: "a", previousId, content: "I am. Go on." } });

  expect((await asking).text).toBe("I am. Go on.");
  expect(ends).toEqual(["I am. Go on."]);
  expect(parley.isAnswering).toBe(false);
});

test("a long sentence that comes after the final one is waited for", async () => {
  const { room, parley } = await openClient();
  const texts: string[] = [];
  parley.on("answer_end", ({ text }) => texts.push(text));
  const sentence = (sequence: number, text: string, isFinal: boolean) =>
    room.say({ type: "assistant_sentence", body: { id: `s${sequence}`, previousId: "a", sequence, text, isFinal } });

  room.say({ type: "start_answer", body: { id: "a", previousId: "m" } });
  sentence(2, "Second.", true);
  expect(parley.isAnswering).toBe(true);
  sentence(1, "First.", false);

  expect(texts).toEqual(["First. Second."]);
  expect(parley.isAnswering).toBe(false);
});

test("a failed turn rejects with the worker's error, which arrives after an empty answer", async () => {
  const { room, parley } = await openClient();
  answerWith(room, [""]);
  const asking = parley.ask("Hello", { timeoutMs: 2_000 });
  await room.until(() => room.all("user_message").length === 1);
  const originatingId = room.all("user_message")[0]?.id ?? "";

  const error = { id: "e", code: 503, message: "The model is away", severity: 3, recoverable: true } as const;
  room.say({ type: "error_message", body: { ...error, originatingId } });

  await expect(asking).rejects.toMatchObject({ code: "unavailable", message: "The model is away" });
});

test("an aborted ask stops the answer and rejects with the signal's reason", async () => {
  const { room, parley } = await openClient();
  const controller = new AbortController();
  const asking = parley.ask("Hello", { signal: controller.signal });
  await room.until(() => room.all("user_message").length === 1);

  controller.abort(new Error("changed my mind"));

  await expect(asking).rejects.toThrow("changed my mind");
  await room.until(() => room.all("control_stop").length === 1);
});

test("ask that gets no answer rejects in time", async () => {
  const { parley } = await openClient();

  await expect(parley.ask("Hello", { timeoutMs: 20 })).rejects.toMatchObject({ code: "unavailable" });
});

test("a handler that throws does not affect others, and causes an error event", async () => {
  const { room, parley } = await openClient();
  const handled: string[] = [];
  parley.on("sentence", () => {
    throw new Error("mine");
  });
  parley.on("sentence", ({ text }) => handled.push(text));
  parley.on("error", ({ message, error }) => handled.push(`${message}: ${String(error?.cause)}`));

  room.say({ type: "assistant_sentence", body: { id: "s", previousId: "a", sequence: 1, text: "Hi.", isFinal: true } });

  expect(handled).toEqual(['A handler for "sentence" threw: Error: mine', "Hi."]);
});

test("the end of an answer's speech is an event with the words that were heard", async () => {
  const { room, parley } = await openClient();
  const bodies: unknown[] = [];
  parley.on("message", ({ type, body }) => type === "block_event" && bodies.push(body));
  const spoken = { event: "turn_spoken", turnId: "a1", state: "interrupted", heard: "Good" } as const;

  room.say({ type: "block_event", body: spoken });

  expect(bodies).toEqual([spoken]);
});

test("a subscription ends when its function is called", async () => {
  const { room, parley } = await openClient();
  let count = 0;
  const off = parley.on("message", () => (count += 1));

  room.say({ type: "commentary", body: { id: "c1", messageId: "m", content: "x" } });
  off();
  room.say({ type: "commentary", body: { id: "c2", messageId: "m", content: "x" } });

  expect(count).toBe(1);
});

test("hanging sends hold back at most eight others, and fail by their deadline", { timeout: 15_000 }, async () => {
  const { room, parley } = await openClient();
  room.hangs = true;
  for (let n = 0; n < 20; n++) parley.stop();
  room.hangs = false;

  parley.stop();
  await room.until(() => room.all("control_stop").length >= 13, 12_000);

  expect(room.all("control_stop")).toHaveLength(13);
});

test("a call's state is passed on unchanged", async () => {
  const { room, parley } = await openClient();
  const states: unknown[] = [];
  parley.on("tool_state", (state) => states.push(state));
  const body = { id: "c", callId: "c", name: "scan", status: "running", inputJson: "{}", metadataJson: "{}" } as const;

  room.say({ type: "tool_call_state", body: { ...body, logs: ["one"] } });
  await room.until(() => states.length === 1);

  expect(states).toEqual([{ ...body, logs: ["one"] }]);
});
