import { pino } from "pino";
import { expect, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { saveCall } from "../../../src/store/calls.ts";
import { beginRoom, endRoom } from "../../../src/store/sessions/session-rooms.ts";
import { insertBlocks } from "../../../src/store/turns/write-blocks.ts";
import { finishTurn, insertTurn } from "../../../src/store/turns/write-turns.ts";
import { retryWebhooks, takeWebhooks } from "../../../src/store/webhooks/webhooks.ts";
import { startDelivery } from "../../../src/worker/webhooks/deliver-webhooks.ts";
import { newCall, newTurn, storedSession, textBlock, useBlock } from "../../store/store-fixtures.ts";
import { forEachTest } from "../../support/lifetimes.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { WebhookReceiver } from "../../support/servers/webhook-receiver.ts";

const database = forEachTest(tempDatabase);
const receiver = forEachTest(() => WebhookReceiver.start());

/** Stores ended sessions, each with one turn of this many characters. Returns their webhooks' ids. */
async function endSessions(count: number, characters = 10): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++) ids.push(await endSession(`RM_${index}_${createId()}`, [characters]));
  return ids;
}

/** Stores a session with turns of these lengths, each with calls whose results have these lengths, in characters. */
async function endSession(roomSid: string, turns: readonly number[], results: readonly number[] = []): Promise<string> {
  const writer = await storedSession(database.sql);
  await beginRoom(writer, { roomSid, agent: "default", afterPosition: 0, hasEndWebhook: true });
  for (const characters of turns) {
    const turn = newTurn();
    await insertTurn(writer, turn);
    await insertBlocks(writer, [{ turnId: turn.id, block: textBlock(0, "x".repeat(characters)) }]);
    for (const [index, length] of results.entries()) {
      const outcome = { state: "success", result: { text: "y".repeat(length) } } as const;
      const call = newCall(turn.id, { state: "success", outcome });
      await saveCall(writer, call);
      await insertBlocks(writer, [{ turnId: turn.id, block: useBlock(1 + index, call.toolUseId) }]);
    }
    await finishTurn(writer, { turnId: turn.id, state: "completed" });
  }
  await endRoom(writer, { roomSid, reason: "participants_left", hasEndWebhook: true });
  return `ended_${roomSid}`;
}

/** Starts a worker's webhook deliveries, with short pauses between attempts. */
function deliver(options: Partial<Parameters<typeof startDelivery>[0]> = {}): AsyncDisposable {
  const { sql } = database;
  const { url, secret } = receiver;
  const logger = pino({ level: "silent" });
  const delivery = startDelivery({ sql, logger, receiver: { url, secret }, delaysMs: [100, 100], ...options });
  return { [Symbol.asyncDispose]: () => delivery.close() };
}

const rows = async () => [
  ...(await database.sql<{ state: string; attempts: number; last_error: string | null }[]>`
    select state, attempts, last_error from webhooks order by id
  `),
];
const arrivals = () => receiver.received.map(({ id }) => id);

test("a finished session is reported with its transcript, signed, and only once", async () => {
  const [id] = await endSessions(1);
  await using _delivery = deliver();

  await expect.poll(rows, { timeout: 5_000 }).toEqual([{ state: "delivered", attempts: 1, last_error: null }]);

  expect(arrivals()).toEqual([id]);
  expect(receiver.received[0]?.body).toEqual({
    type: "session.ended",
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    data: {
      sessionId: expect.any(String),
      conversationId: expect.any(String),
      room: "kitchen",
      roomSid: id?.slice("ended_".length),
      agent: "default",
      startedAt: expect.any(Number),
      endedAt: expect.any(Number),
      reason: "participants_left",
      participants: ["ann"],
      turns: [
        expect.objectContaining({
          participant: "ann",
          said: "Hello",
          answer: [{ type: "text", text: "x".repeat(10) }],
        }),
      ],
      turnsLeftOut: 0,
      state: {},
      usage: [],
    },
  });
});

test("a receiver that fails, drops the connection and redirects gets the webhook again, under the same id", async () => {
  const [id] = await endSessions(1);
  receiver.answers = [500, "drop", 302];
  await using _delivery = deliver({ delaysMs: [100, 100, 100] });

  await expect.poll(rows, { timeout: 20_000 }).toEqual([{ state: "delivered", attempts: 4, last_error: null }]);

  expect(arrivals()).toEqual([id, id, id, id]);
}, 30_000);

test("a receiver that hangs is not waited for longer than ten seconds, and one with an endless response not at all", async () => {
  await endSessions(1);
  receiver.answers = ["hang", "endless"];
  await using _delivery = deliver();

  await expect
    .poll(rows, { timeout: 14_000 })
    .toEqual([{ state: "waiting", attempts: 1, last_error: "no answer within 10 s" }]);
  await expect.poll(rows, { timeout: 5_000 }).toEqual([{ state: "delivered", attempts: 2, last_error: null }]);
}, 30_000);

test("a webhook that is never accepted is dead after its last attempt, and can be sent again", async () => {
  await endSessions(1);
  receiver.answers = [500, 503, 500];
  await using _delivery = deliver();

  await expect.poll(rows, { timeout: 15_000 }).toEqual([{ state: "dead", attempts: 3, last_error: "status 500" }]);
  await retryWebhooks(database.sql, "dead");

  await expect.poll(rows, { timeout: 10_000 }).toEqual([{ state: "delivered", attempts: 1, last_error: null }]);
}, 30_000);

test("a webhook that cannot be read is dead after its last attempt, too", async () => {
  await endSessions(1);
  await database.sql`alter table turn_blocks rename to elsewhere`;
  const lines: string[] = [];
  const logger = pino(
    { level: "warn" },
    { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) },
  );
  await using _delivery = deliver({ logger });

  const last_error = "the session could not be read";
  await expect.poll(rows, { timeout: 15_000 }).toEqual([{ state: "dead", attempts: 3, last_error }]);

  expect(arrivals()).toEqual([]);
  expect(lines.at(-1)).toBe("webhook delivery failed, giving up");
}, 30_000);

test("two workers with one outbox send each webhook once", async () => {
  const ids = await endSessions(30);
  await using _one = deliver();
  await using _other = deliver();

  const isDone = async () => (await rows()).every(({ state }) => state === "delivered");
  await expect.poll(isDone, { timeout: 20_000 }).toBe(true);

  expect(arrivals().toSorted()).toEqual(ids.toSorted());
}, 30_000);

test("a webhook taken by a worker that died in the middle is later sent by another one", async () => {
  const [id] = await endSessions(1);
  expect(await takeWebhooks(database.sql, { limit: 5, leaseMs: 3_000 })).toMatchObject([{ id, attempt: 1 }]);
  const diedAt = performance.now();
  await using _other = deliver();

  await expect.poll(rows, { timeout: 10_000 }).toEqual([{ state: "delivered", attempts: 2, last_error: null }]);

  expect((receiver.received[0]?.at ?? 0) - diedAt).toBeGreaterThan(2_500);
}, 20_000);

test("a delivery that is closed in the middle leaves its webhook to another", async () => {
  const [id] = await endSessions(1);
  receiver.answers = ["hang"];
  const first = deliver({ leaseMs: 500 });
  await expect.poll(arrivals, { timeout: 5_000 }).toEqual([id]);

  await first[Symbol.asyncDispose]();
  expect(await rows()).toEqual([{ state: "waiting", attempts: 1, last_error: null }]);
  await using _other = deliver();

  await expect.poll(arrivals, { timeout: 10_000 }).toEqual([id, id]);
}, 20_000);

test("for a session that is too long the newest turns are sent, and how many are not", async () => {
  await endSession("RM_long", [400_000, 400_000, 400_000, 10]);
  await using _delivery = deliver();

  await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(1);

  const turns = [2, 3, 4].map((position) => expect.objectContaining({ position }));
  expect(receiver.received[0]?.body.data).toMatchObject({ turns, turnsLeftOut: 1 });
});

test("for a turn with large tool results the small results are sent, and the sizes of the others", async () => {
  await endSession("RM_results", [10], [1_000, ...Array<number>(8).fill(200_000)]);
  await using _delivery = deliver();

  await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(1);

  const turns = receiver.received[0]?.body.data["turns"] as { answer: { leftOutBytes?: number }[] }[];
  const [, small, ...large] = turns[0]?.answer ?? [];
  expect(small).toMatchObject({ result: { text: "y".repeat(1_000) } });
  // Only one large result fits into the webhook.
  const leftOut = large.filter(({ leftOutBytes = 0 }) => leftOutBytes > 200_000);
  expect([large.length, leftOut.length]).toEqual([8, 7]);
});
