import { expect, test } from "vitest";
import { Unacknowledged } from "../../../src/client/wire/unacknowledged.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { VirtualClock } from "../../support/virtual-clock.ts";
import { openClient } from "../open-client.ts";

test("messages that exceeded the worker's budget are sent again, in order, until they are acknowledged", async () => {
  using clock = new VirtualClock();
  const kept = new Unacknowledged();
  const sent: number[] = [];
  for (const stanza of [1, 2, 3]) kept.add(stanza, 10, () => void sent.push(stanza));
  kept.acknowledge(2, true);
  kept.sendAgainAfter(1_500);
  kept.sendAgainAfter(1_500);
  await clock.run(1_499);
  expect(sent).toEqual([]);

  await clock.run(1);
  expect(sent).toEqual([1, 3]);
  kept.acknowledge(1, true);
  kept.sendAgainAfter(1_000);
  await clock.run(1_000);
  expect(sent).toEqual([1, 3, 3]);
  kept.acknowledge(3, true);
  await clock.run(60_000);
  expect(sent).toEqual([1, 3, 3]);
});

test("a message without an Ack is sent again every five seconds, for a minute", async () => {
  using clock = new VirtualClock();
  const kept = new Unacknowledged();
  const start = clock.now;
  const at: number[] = [];
  kept.add(1, 10, () => void at.push(clock.now - start));
  await clock.run(120_000);

  expect(at).toEqual(Array.from({ length: 12 }, (_, index) => (index + 1) * 5_000));
});

test("eight of the largest results are kept until the worker has them", async () => {
  using clock = new VirtualClock();
  const kept = new Unacknowledged();
  const sent: number[] = [];
  for (let stanza = 1; stanza <= 8; stanza++) kept.add(stanza, LIMITS.envelopeBytes, () => void sent.push(stanza));
  await clock.run(5_000);

  expect(sent).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test("many messages are never repeated all at once, and all are given up after a minute", async () => {
  using clock = new VirtualClock();
  const kept = new Unacknowledged();
  const sent: { stanza: number; at: number }[] = [];
  const start = clock.now;
  for (let stanza = 1; stanza <= 100; stanza++)
    kept.add(stanza, 10, () => void sent.push({ stanza, at: clock.now - start }));
  for (let round = 0; round < 120; round++) {
    kept.sendAgainAfter(1_000);
    await clock.run(1_000);
  }

  expect(new Set(sent.map(({ stanza }) => stanza)).size).toBe(100);
  expect(Math.max(...sent.map(({ at }) => at))).toBeLessThanOrEqual(65_000);
  const perMoment = Object.values(Object.groupBy(sent, ({ at }) => String(at))).map((list) => list?.length);
  expect(Math.max(...perMoment.map(Number))).toBe(40);
});

test("a 429 with a time makes the client repeat the same stanza, and causes no error event", async () => {
  const { room, parley } = await openClient();
  const errors: number[] = [];
  parley.on("error", ({ code }) => void errors.push(code));
  room.acknowledges = false;
  parley.sendText("Hi");
  await room.until(() => room.all("user_message").length === 1);
  room.acknowledges = true;
  const error = { id: "e1", code: 429, message: "Too many", severity: 2, recoverable: true, retryAfterMs: 50 } as const;
  room.say({ type: "error_message", body: error });
  await room.until(() => room.all("user_message").length === 2);

  const [first, second] = room.heard.filter(({ message }) => message.type === "user_message");
  expect(second).toMatchObject({ stanzaId: first?.stanzaId, message: first?.message });
  expect(errors).toEqual([]);
});
