import v8 from "node:v8";
import vm from "node:vm";
import { encode as pack } from "@msgpack/msgpack";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import type { ReceivedMessage } from "../../../src/protocol/codec/codec.ts";
import type { MessageBody } from "../../../src/protocol/messages/messages.ts";
import { cpuMs } from "../../support/cpu-ms.ts";
import { decode, encode, fakeParticipant, FakeSession, lastUserText } from "../../support/doubles/fake-session.ts";
import { CORPUS, hostilePacket } from "../../support/hostile-packets.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";

const SEED = propertySeed(20_261_121);
const CASES = propertyRuns(1_500);
const CASES_PER_SESSION = 40;
const CALL = "call the scanner";

const rejections: unknown[] = [];
const onRejection = (reason: unknown) => void rejections.push(reason);
beforeEach(() => process.on("unhandledRejection", onRejection));
afterEach(() => {
  process.off("unhandledRejection", onRejection);
  if (rejections.length > 0) throw new AggregateError(rejections.splice(0), "A rejection was not handled");
});

/** One room under attack. `asker` and `helper` are honest; each case has its own attackers. */
class Arena {
  readonly sent: (ReceivedMessage & { readonly to: readonly string[] | undefined })[] = [];
  readonly fake = new FakeSession({
    think: (history) => (lastUserText(history) === CALL ? { uses: [{ name: "scan" }] } : { text: "Here you are." }),
    publish: async (bytes, to) => void this.sent.push({ to, ...decode(bytes) }),
  });
  #stanza = 0;

  constructor() {
    const tools = [{ name: "scan", description: "S.", inputSchema: { type: "object" }, scope: "room" as const }];
    this.helperSays({ type: "configuration", body: { features: ["tool_use_cancel"], tools } });
  }

  askerSays(content: string): string {
    const id = createId();
    const bytes = encode(++this.#stanza, { type: "user_message", body: { id, content } });
    this.fake.session.handle({ type: "packet", from: fakeParticipant("asker"), bytes });
    return id;
  }

  helperSays(message: Parameters<typeof encode>[1]): void {
    this.fake.session.handle({
      type: "packet",
      from: fakeParticipant("helper"),
      bytes: encode(++this.#stanza, message),
    });
  }

  all<Type extends "tool_use_request" | "start_answer" | "assistant_sentence" | "acknowledgement">(
    type: Type,
    to?: string,
  ): MessageBody<Type>[] {
    return this.sent
      .filter((packet) => to === undefined || packet.to?.includes(to))
      .flatMap(({ message }) => (message.type === type ? [message.body as MessageBody<Type>] : []));
  }

  async until<Value>(what: string, find: () => Value | undefined): Promise<Value> {
    for (let turn = 0; turn < 2_000; turn++) {
      const value = find();
      if (value !== undefined) return value;
      await new Promise(setImmediate);
    }
    throw new Error(`${what} did not come`);
  }

  answerTo(messageId: string): Promise<boolean> {
    return this.until("the answer", () => {
      const start = this.all("start_answer").find(({ previousId }) => previousId === messageId);
      const isLast = (body: MessageBody<"assistant_sentence">) => body.previousId === start?.id && body.isFinal;
      return start && this.all("assistant_sentence").some(isLast) ? true : undefined;
    });
  }
}

interface Target {
  readonly callId: string;
  readonly requestStanza: number;
}

/** Packets that contain the open call's id: forged results, claims, errors and cancels, valid or nearly so. */
const forgery = fc
  .record({
    type: fc.constantFrom(1, 7, 7, 7, 8, 103, 104, 6),
    key: fc.constantFrom("id", "requestId", "originatingId"),
    success: fc.constantFrom<unknown>(true, false, 1, "true", null),
    result: fc.constantFrom<unknown>(undefined, null, [], "text", { forged: true }, { value: "\0\ud800" }),
    errorCode: fc.constantFrom<unknown>(undefined, "unknown_tool", "timeout", "", 7),
    stanzaId: fc.integer({ min: -5, max: 1_000 }),
  })
  .map(({ type, key, stanzaId, ...rest }) => ({ callId, requestStanza }: Target): Uint8Array => {
    const ack = { acknowledgedStanzaId: requestStanza };
    const more = { code: 501, message: "m", log: "l", reason: "closed", toolName: "scan", execution: "client" };
    const body = { ...rest, ...ack, ...more, id: createId(), [key]: callId };
    return pack({ stanzaId, conversationId: "fake", type, meta: {}, body }, { ignoreUndefined: true });
  });

const step = fc.record({
  who: fc.constantFrom("stranger", "other", "asker-too"),
  packet: fc.oneof(
    { arbitrary: hostilePacket.map((bytes) => () => bytes), weight: 3 },
    { arbitrary: forgery, weight: 1 },
  ),
  times: fc.oneof(
    { arbitrary: fc.constant(1), weight: 80 },
    { arbitrary: fc.constantFrom(2, 3), weight: 10 },
    { arbitrary: fc.constant(250), weight: 1 },
  ),
  as: fc.oneof(
    { arbitrary: fc.constant("packet"), weight: 20 },
    { arbitrary: fc.constantFrom("chat", "leave", "join"), weight: 1 },
  ),
});

function collectGarbage(): void {
  v8.setFlagsFromString("--expose-gc");
  (vm.runInNewContext("gc") as () => void)();
}

test(`${CASES} attacks: nothing throws, no forged result counts, and the next good message is answered`, async () => {
  let arena = new Arena();
  let count = 0;
  let forgeriesRefused = 0;
  let baseline = 0;
  const attack = fc.array(step, { minLength: 1, maxLength: 3 });
  const property = fc.asyncProperty(attack, async (steps) => {
    if (count % CASES_PER_SESSION === 0) {
      await arena.fake.session.close(0);
      forgeriesRefused += arena.fake.recorder.extras.length;
      arena = new Arena();
    }
    count++;
    const { session, recorder } = arena.fake;
    const question = arena.askerSays(CALL);
    const request = await arena.until("the request", () => arena.all("tool_use_request", "helper").at(-1));
    const carrier = arena.sent.findLast(({ message }) => message.type === "tool_use_request");
    const target = { callId: request.id, requestStanza: Math.abs(carrier?.stanzaId ?? 0) };

    for (const { who, packet, times, as } of steps) {
      const from = fakeParticipant(`${who}-${count}`);
      for (let time = 0; time < times; time++) {
        if (as === "packet") session.handle({ type: "packet", from, bytes: packet(target) });
        else if (as === "leave") session.handle({ type: "left", identity: from.identity });
        else if (as === "join") session.handle({ type: "joined", participant: fakeParticipant(from.identity, time) });
      }
    }

    arena.helperSays({ type: "tool_use_result", body: { id: request.id, success: true, result: { ok: count } } });
    await arena.answerTo(question);
    const settled = recorder.settled.filter(({ id }) => id === request.id);
    expect(settled).toHaveLength(1);
    const [call] = settled;
    // An attacker may have canceled the call, because everyone may send a ControlStop.
    const rightEnd = { state: "success", result: { ok: count } };
    expect(call?.state === "cancelled" ? rightEnd : call?.outcome).toEqual(rightEnd);

    arena.sent.length = 0;
    await arena.answerTo(arena.askerSays("A good message"));
    expect(arena.all("acknowledgement", "asker")).toHaveLength(1);
    arena.sent.length = 0;
    if (count === Math.floor(CASES / 2)) {
      collectGarbage();
      baseline = process.memoryUsage().heapUsed;
    }
  });

  await fc.assert(property, { seed: SEED, numRuns: CASES, endOnFailure: true });

  await arena.fake.session.close(0);
  collectGarbage();
  expect(count).toBe(CASES);
  expect(forgeriesRefused).toBeGreaterThan(CASES / 20);
  expect(process.memoryUsage().heapUsed - baseline).toBeLessThan(50e6);
}, 240_000);

test("each packet in the corpus is answered with an error or ignored, and costs no more than its size", () => {
  const arena = new Arena();
  const startedAt = cpuMs();
  for (const [index, bytes] of CORPUS.entries()) {
    arena.fake.session.handle({ type: "packet", from: fakeParticipant(`attacker-${index}`), bytes });
  }
  expect(cpuMs() - startedAt).toBeLessThan(5_000);
  expect(process.memoryUsage().heapUsed).toBeLessThan(600e6);
});

test("a list of tens of thousands of bad tools is answered with a few errors", async () => {
  const arena = new Arena();
  const envelope = { stanzaId: 1, conversationId: "", type: 12, meta: {}, body: { tools: Array(45_000).fill(7) } };
  arena.fake.session.handle({ type: "packet", from: fakeParticipant("attacker"), bytes: pack(envelope) });
  await arena.answerTo(arena.askerSays("A good message"));
  expect(arena.sent.filter(({ message }) => message.type === "error_message").length).toBeLessThan(20);
});

test("requesting old messages again and again costs nobody else a message", async () => {
  const arena = new Arena();
  for (let join = 1; join <= 400; join++)
    arena.fake.session.handle({ type: "joined", participant: fakeParticipant("attacker", join) });
  await new Promise(setImmediate);
  const attacker = fakeParticipant("attacker", 400);
  for (let stanza = 1; stanza <= 150; stanza++) {
    arena.fake.session.handle({
      type: "packet",
      from: attacker,
      bytes: encode(stanza, { type: "configuration", body: { lastSequenceSeen: 0 } }),
    });
  }
  await arena.answerTo(arena.askerSays("A good message"));
  const errors = arena.sent.flatMap(({ message }) => (message.type === "error_message" ? [message.body.code] : []));
  expect(new Set(errors)).toEqual(new Set([429]));
});

test("announcing 64 tools again and again does not stop the room", () => {
  const arena = new Arena();
  const schema = { type: "object", anyOf: Array.from({ length: 60 }, () => ({ type: "string" })) };
  const names = Array.from({ length: 64 }, (_, index) => `tool_${index}`);
  const tools = names.map((name) => ({ name, description: "D.", inputSchema: schema }));
  const startedAt = cpuMs();
  for (let stanza = 1; stanza <= 100; stanza++) {
    arena.fake.session.handle({
      type: "packet",
      from: fakeParticipant("a"),
      bytes: encode(stanza, { type: "configuration", body: { tools } }),
    });
  }
  expect(cpuMs() - startedAt).toBeLessThan(5_000);
});

test("a chat message that is empty or exceeds the limit is refused without a throw", () => {
  const { session } = new Arena().fake;
  expect(() =>
    session.handle({ type: "chat", from: fakeParticipant("plain"), id: createId(), text: "  " }),
  ).not.toThrow();
  for (let count = 0; count < 300; count++) {
    expect(() =>
      session.handle({ type: "chat", from: fakeParticipant("plain"), id: createId(), text: "Hi" }),
    ).not.toThrow();
  }
});
