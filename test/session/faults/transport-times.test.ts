import { expect, test } from "vitest";
import { z } from "zod";
import { createId } from "../../../src/lib/id.ts";
import type { Message, MessageBody } from "../../../src/protocol/messages/messages.ts";
import { defineTool } from "../../../src/tool/define-tool.ts";
import { cpuMs } from "../../support/cpu-ms.ts";
import { decode, encode, fakeParticipant, FakeSession, lastUserText } from "../../support/doubles/fake-session.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";
import { announced } from "../../support/client-tool.ts";
import { forEachTest } from "../../support/lifetimes.ts";

const clock = forEachTest(() => new VirtualClock());

/** A session with one client, `user`, in virtual time. */
class Room {
  readonly sent: Message[] = [];
  isStuck = false;
  readonly fake: FakeSession;
  #stanza = 0;

  constructor(toolName: string, tools: ConstructorParameters<typeof FakeSession>[0]["tools"] = {}) {
    this.fake = new FakeSession({
      tools,
      think: (history) => (lastUserText(history) === "Go" ? { uses: [{ name: toolName }] } : { text: "Done." }),
      publish: async (bytes) => {
        if (this.isStuck) await new Promise(() => {});
        this.sent.push(decode(bytes).message);
      },
    });
  }

  say(message: Message, stanzaId = ++this.#stanza): void {
    this.fake.session.handle({ type: "packet", from: fakeParticipant("user"), bytes: encode(stanzaId, message) });
  }

  announce(timeoutMs: number): void {
    this.say({ type: "configuration", body: { tools: [announced("scan", { timeoutMs })] } });
  }

  go(): void {
    this.say({ type: "user_message", body: { id: createId(), content: "Go" } });
  }

  get request(): MessageBody<"tool_use_request"> {
    const found = this.sent.findLast((message) => message.type === "tool_use_request");
    if (!found) throw new TypeError("No request was sent");
    return found.body;
  }
}

test("F1: a client that never answers takes its time and the grace period, to the millisecond", async () => {
  const room = new Room("scan");
  room.announce(1_000);
  room.go();
  await clock.run(1_999);
  expect(room.fake.recorder.settled).toEqual([]);
  await clock.run(2);
  expect(room.fake.recorder.settled).toMatchObject([{ state: "error", outcome: { errorCode: "timeout" } }]);
  await clock.run(1_000);
  expect([...room.fake.recorder.turns.values()]).toMatchObject([{ state: "completed" }]);
});

for (const [at, state, extras] of [
  [1_999, "success", []],
  [2_001, "error", [{ kind: "late" }]],
] as const) {
  test(`F2: with a result after ${at} ms and a deadline of 2000 ms, exactly one counts`, async () => {
    const room = new Room("scan");
    room.announce(1_000);
    room.go();
    await clock.run(0);
    const { id } = room.request;
    clock.after(at, () => room.say({ type: "tool_use_result", body: { id, success: true, result: { ok: 1 } } }));
    await clock.run(5_000);
    expect(room.fake.recorder.settled).toMatchObject([{ state }]);
    expect(room.fake.recorder.extras).toMatchObject(extras);
  });
}

for (const skewMs of [3_600_000, -3_600_000]) {
  test(`F33: changing the clock by ${skewMs / 3_600_000} h before a takeover changes no deadline`, async () => {
    const ranAt: number[] = [];
    const both = defineTool({
      description: "B.",
      input: z.object({}),
      execution: "either",
      timeoutMs: 3_000,
      run: () => {
        ranAt.push(clock.now - startedAt);
        return new Promise(() => {});
      },
    });
    const room = new Room("both", { both });
    room.say({ type: "configuration", body: { features: ["claims"] } });
    const startedAt = clock.now;
    room.go();
    clock.after(500, () => {
      clock.skewMs = skewMs;
    });
    await clock.run(2_900);
    expect([ranAt, room.fake.recorder.settled]).toEqual([[1_000], []]);
    await clock.run(200);
    expect(room.fake.recorder.settled).toMatchObject([{ outcome: { errorCode: "timeout" } }]);
  });
}

test("F34: sends that hang forever fail the call once, at the send's deadline, and the session continues", async () => {
  const room = new Room("scan");
  room.announce(30_000);
  room.isStuck = true;
  room.go();
  await clock.run(25_000);
  expect(room.fake.recorder.settled).toMatchObject([{ outcome: { errorCode: "client_disconnected" } }]);
  room.isStuck = false;
  await clock.run(30_000);
  room.sent.length = 0;
  room.say({ type: "user_message", body: { id: createId(), content: "Hello" } });
  await clock.run(5_000);
  expect(room.sent.map(({ type }) => type)).toEqual(["start_answer", "acknowledgement", "assistant_sentence"]);
});

test("F36: 10,000 results in one tick block nobody", async () => {
  const room = new Room("scan");
  room.announce(30_000);
  room.go();
  await clock.run(0);
  const { id } = room.request;
  clock[Symbol.dispose]();
  const startedAt = cpuMs();
  for (let count = 0; count < 10_000; count++) {
    room.say({ type: "tool_use_result", body: { id, success: true, result: { count } } });
  }
  const tookMs = cpuMs() - startedAt;
  expect(room.fake.recorder.settled).toMatchObject([{ outcome: { result: { count: 0 } } }]);
  expect(tookMs).toBeLessThan(1_000);
});

test("F35: a listener that throws affects nobody else", async () => {
  const seen: string[] = [];
  const sent: Message[] = [];
  const { session, recorder } = new FakeSession({
    think: () => ({ text: "Done." }),
    publish: async (bytes) => void sent.push(decode(bytes).message),
    watchers: [
      () => {
        throw new Error("broken watcher");
      },
      (event) => seen.push(event.type === "turn" ? event.event.type : event.type),
    ],
  });
  session.handle({
    type: "packet",
    from: fakeParticipant("user"),
    bytes: encode(1, { type: "user_message", body: { id: "a", content: "Go" } }),
  });
  await clock.run(1_000);
  expect([...recorder.turns.values()]).toMatchObject([{ state: "completed" }]);
  expect(seen.at(-1)).toBe("turn_complete");
  expect(sent.at(-1)).toMatchObject({ type: "assistant_sentence", body: { text: "Done.", isFinal: true } });
});
