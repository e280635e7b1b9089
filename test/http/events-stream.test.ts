import { connect as connectSocket, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../../src/store/database/pool.ts";
import { EventServer, roomToken, type EventReader, type ReadEvent } from "../support/servers/event-server.ts";
import { PublishedSession } from "../support/doubles/published-session.ts";
import { TcpProxy } from "../support/servers/tcp-proxy.ts";
import { tempDatabase, type TempDatabase } from "../support/servers/temp-database.ts";

let database: TempDatabase;

beforeAll(async () => {
  database = await tempDatabase();
});

afterAll(async () => {
  await database.drop();
});

const isEnd = ({ event }: ReadEvent) => event === "turn_complete";

/**
 * Returns each block's text as a reader gets it by adding up the deltas. When a block starts again, its earlier text is
 * replaced.
 */
function grown(events: readonly ReadEvent[]): Record<string, string> {
  const blocks: Record<string, string> = {};
  for (const { event, data } of events) {
    const key = `${String(data["turnId"])}.${String(data["sequence"])}`;
    if (event === "block_start") blocks[key] = "";
    if (event === "block_delta") blocks[key] += String(data["text"] ?? data["result"]);
  }
  return blocks;
}

const texts = (reader: EventReader) =>
  reader.events.filter(({ event }) => event === "block_stop").map(({ data }) => data["textContent"]);

test("events are streamed as they happen, and have ids where the record is durable", async () => {
  await using server = await EventServer.start({ databaseUrl: database.url });
  const talk = await PublishedSession.begin(database.sql);
  await using reader = await server.open(talk);
  const turn = talk.begin();
  turn.start();
  turn.grow("Hel");
  await reader.next(({ event }) => event === "block_delta");
  turn.grow("lo\nyou. \u2028");
  turn.stop({ blockType: "text", textContent: "Hello\nyou. \u2028", content: null });
  await turn.end();
  await reader.next(isEnd);

  const turnId = turn.turn.messageId;
  expect(reader.response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  expect(reader.response.headers.get("cache-control")).toBe("no-store");
  expect(reader.text.startsWith("retry: 1000\n\n")).toBe(true);
  expect(reader.events).toEqual([
    {
      id: undefined,
      event: "turn_start",
      data: { turnId, parentMessageId: turn.turn.parentMessageId, participantIdentity: "ann" },
    },
    { id: undefined, event: "block_start", data: { turnId, sequence: 0, type: "text", blockType: "text" } },
    {
      id: undefined,
      event: "block_delta",
      data: { turnId, sequence: 0, text: "Hel", delta: { type: "text", text: "Hel" } },
    },
    {
      id: undefined,
      event: "block_delta",
      data: { turnId, sequence: 0, text: "lo\nyou. \u2028", delta: { type: "text", text: "lo\nyou. \u2028" } },
    },
    {
      id: "1.0",
      event: "block_stop",
      data: { turnId, sequence: 0, type: "text", blockType: "text", textContent: "Hello\nyou. \u2028" },
    },
    {
      id: "1.end",
      event: "turn_complete",
      data: {
        turnId,
        state: "completed",
        stopReason: "end_turn",
        model: "claude-test",
        usage: expect.objectContaining({ outputTokens: 2 }),
      },
    },
  ]);
});

test("after Last-Event-ID the rest is read from the store, and live events follow without loss or duplicates", async () => {
  await using server = await EventServer.start({ databaseUrl: database.url });
  const talk = await PublishedSession.begin(database.sql);
  await talk.say("1a", "1b", "1c");
  await talk.say("2a");
  const third = talk.begin();
  third.text("3a");

  await using reader = await server.open(talk, { lastEventId: "1.0" });
  third.text("3b");
  await third.end();
  await talk.say("4a");
  await reader.next(({ id }) => id === "4.end");

  const ids = reader.events.flatMap(({ id }) => id ?? []);
  expect(ids).toEqual(["1.1", "1.2", "1.end", "2.0", "2.end", "3.0", "3.1", "3.end", "4.0", "4.end"]);
  expect(texts(reader)).toEqual(["1b", "1c", "2a", "3a", "3b", "4a"]);
  expect(Object.values(grown(reader.events))).toEqual(["1b", "1c", "2a", "3a", "3b", "4a"]);
  expect(reader.names().filter((name) => name === "turn_start")).toHaveLength(3);
});

test("a reader that reconnects at any event in a session sees every durable event once", async () => {
  await using server = await EventServer.start({ databaseUrl: database.url });
  const talk = await PublishedSession.begin(database.sql);
  const seen: string[] = [];
  let lastEventId = "0.end";
  const talking = (async () => {
    for (let turn = 1; turn <= 8; turn++) {
      const { length } = await talk.say("a", "b".repeat(turn), "c").then(({ input }) => input);
      await sleep(length * 5);
    }
  })();
  for (let round = 0; !seen.includes("8.end"); round++) {
    await using reader = await server.open(talk, { lastEventId });
    const count = 1 + (round % 4);
    await reader.until(
      () => reader.events.filter(({ id }) => id !== undefined).length >= count || reader.lastId === "8.end",
    );
    const ids = reader.events.flatMap(({ id }) => id ?? []);
    seen.push(...ids);
    lastEventId = ids.at(-1) ?? lastEventId;
  }
  await talking;

  const turns = [1, 2, 3, 4, 5, 6, 7, 8];
  expect(seen).toEqual(turns.flatMap((turn) => [`${turn}.0`, `${turn}.1`, `${turn}.2`, `${turn}.end`]));
});

test("the end of an answer's speech follows the turn's end, with what was heard", async () => {
  await using server = await EventServer.start({ databaseUrl: database.url });
  const talk = await PublishedSession.begin(database.sql);
  await using reader = await server.open(talk);
  const turn = talk.begin({ isSpoken: true });
  turn.text("It is sunny.");
  await turn.end();
  await reader.next(isEnd);
  expect(reader.names()).not.toContain("turn_spoken");

  await turn.speak("It is");

  await reader.next(({ event }) => event === "turn_spoken");
  const data = { turnId: turn.turn.messageId, state: "interrupted", heard: "It is" };
  expect(reader.events.at(-1)).toEqual({ id: "1.spoken", event: "turn_spoken", data });
});

test.each([
  ["1.end", ["1.spoken", "2.0", "2.end"]],
  ["1.spoken", ["2.0", "2.end"]],
])("a reader that reconnects with %s gets the end of the speech once", async (lastEventId, ids) => {
  await using server = await EventServer.start({ databaseUrl: database.url });
  const talk = await PublishedSession.begin(database.sql);
  const turn = talk.begin({ isSpoken: true });
  turn.text("It is sunny.");
  await turn.end();
  await turn.speak();
  await talk.say("And warm.");

  await using reader = await server.open(talk, { lastEventId });

  await reader.next(({ id }) => id === "2.end");
  expect(reader.events.flatMap(({ id }) => id ?? [])).toEqual(ids);
});

test("a reader that connects after the last answer was spoken does not get its end", async () => {
  await using server = await EventServer.start({ databaseUrl: database.url });
  const talk = await PublishedSession.begin(database.sql);
  const turn = talk.begin({ isSpoken: true });
  turn.text("It is sunny.");
  await turn.end();
  await turn.speak();

  await using reader = await server.open(talk);
  await talk.say("And warm.");

  await reader.next(isEnd);
  expect(reader.events.flatMap(({ id }) => id ?? [])).toEqual(["2.0", "2.end"]);
});

test("a reader that connects in the middle of a block gets the whole block when it ends", async () => {
  await using server = await EventServer.start({ databaseUrl: database.url });
  const talk = await PublishedSession.begin(database.sql);
  await talk.say("old");
  const turn = talk.begin();
  turn.start();
  turn.grow("One ");
  await sleep(50);
  await using reader = await server.open(talk);
  await reader.next(({ event }) => event === "turn_start");
  turn.grow("two");
  turn.stop({ blockType: "text", textContent: "One two", content: null });
  await turn.end();
  await reader.next(isEnd);

  expect(reader.names()).toEqual(["turn_start", "block_start", "block_delta", "block_stop", "turn_complete"]);
  expect(Object.values(grown(reader.events))).toEqual(["One two"]);
});

test("two readers see the same events", async () => {
  await using server = await EventServer.start({ databaseUrl: database.url });
  await using elsewhere = await EventServer.start({ databaseUrl: database.url });
  const talk = await PublishedSession.begin(database.sql);
  await using first = await server.open(talk);
  await using second = await server.open({ id: talk.room, room: talk.room }, { identity: "bob" });
  await using third = await elsewhere.open(talk);
  await talk.say("Hello.", "You.");
  await Promise.all([first.next(isEnd), second.next(isEnd), third.next(isEnd)]);

  expect(texts(first)).toEqual(["Hello.", "You."]);
  expect(texts(second)).toEqual(texts(first));
  expect(texts(third)).toEqual(texts(first));
});

test("equal deltas, long texts, long results and control characters all arrive unchanged", async () => {
  await using server = await EventServer.start({ databaseUrl: database.url });
  const talk = await PublishedSession.begin(database.sql);
  await using reader = await server.open(talk);
  const turn = talk.begin();
  const long = '😀\u0001"\\\n'.repeat(6_000);
  turn.start();
  for (let count = 0; count < 50; count++) turn.grow("ha");
  turn.grow(long);
  turn.stop({ blockType: "text", textContent: "ha".repeat(50) + long, content: null });
  const content = { tool_use_id: "toolu_1", content: "x".repeat(100_000) };
  turn.start("tool_result");
  turn.delta({ type: "tool_result", content: content.content });
  turn.stop({ blockType: "tool_result", textContent: null, content });
  turn.text("a\u0000b");
  await turn.end();
  await reader.next(isEnd);

  const [text, , last] = Object.values(grown(reader.events));
  expect(text).toBe("ha".repeat(50) + long);
  expect(last).toBe("a\uFFFDb");
  const ofResult = reader.events.filter(({ data }) => data["sequence"] === 1);
  expect(ofResult.map(({ event }) => event)).toEqual(["block_start", "block_delta", "block_stop"]);
  expect(ofResult[1]?.data["result"]).toBe(content.content);
  expect(ofResult[2]?.data["content"]).toEqual(content);
});

test("a heartbeat keeps a silent stream alive", async () => {
  await using server = await EventServer.start({ databaseUrl: database.url, times: { heartbeatMs: 20 } });
  await using reader = await server.open(await PublishedSession.begin(database.sql));

  await reader.until(() => reader.text.split(": heartbeat\n\n").length > 3);
  expect(reader.events).toEqual([]);
});

test("a hundred readers of a session cost the database little more than one reader", { timeout: 30_000 }, async () => {
  await using proxy = await TcpProxy.start(database.url);
  await using server = await EventServer.start({ databaseUrl: proxy.url });
  const talk = await PublishedSession.begin(database.sql);
  const opening = Array.from({ length: 100 }, (_, index) => server.open(talk, { identity: `reader-${index % 20}` }));
  const readers = await Promise.all(opening);
  const before = proxy.answeredBytes;
  const written = Array.from({ length: 5 }, (_, index) => String(index).repeat(100_000));

  await talk.say(...written);
  await Promise.all(readers.map((reader) => reader.next(isEnd, 20_000)));

  for (const reader of readers) expect(texts(reader)).toEqual(written);
  expect(proxy.answeredBytes - before).toBeLessThan(10 * 5 * 100_000);
  await Promise.all(readers.map((reader) => reader.close()));
});

test(
  "a reader that never reads is cut off, costs the others nothing, and can continue by id",
  { timeout: 30_000 },
  async () => {
    await using server = await EventServer.start({ databaseUrl: database.url, times: { drainMs: 1_500 } });
    const talk = await PublishedSession.begin(database.sql);
    await using reader = await server.open(talk);
    const { hostname, port } = new URL(server.url);
    const idle = connectSocket(Number(port), hostname);
    const token = await roomToken(talk.room, { identity: "idle" });
    idle.pause();
    idle.write(`GET /session/${talk.id}/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`);
    const closed = new Promise<void>((resolve) => idle.once("close", () => resolve()));
    idle.on("error", () => {});
    const big = "y".repeat(500_000);
    await talk.say(...Array.from({ length: 30 }, () => big));

    await reader.next(isEnd, 20_000);
    expect(texts(reader)).toHaveLength(30);
    // The server has cut off the idle reader before sending everything. The reader notices this only now, when it reads
    // what was buffered.
    await sleep(2_500);
    let bytes = 0;
    idle.on("data", (chunk) => (bytes += chunk.length)).resume();
    await closed;
    expect(bytes).toBeLessThan(14_000_000);
    await using back = await server.open(talk, { lastEventId: "1.28" });
    await back.next(isEnd);
    expect(texts(back)).toHaveLength(1);
  },
);

test(
  "a hundred readers that never read take little memory, cost the others nothing, and are cut off",
  { timeout: 60_000 },
  async () => {
    await using server = await EventServer.start({ databaseUrl: database.url, times: { drainMs: 1_500 } });
    const talk = await PublishedSession.begin(database.sql);
    await using reader = await server.open(talk);
    const { hostname, port } = new URL(server.url);
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const usedMemory = () => {
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const before = usedMemory();
    const idle: Socket[] = [];
    for (let index = 0; index < 100; index++) {
      const token = await roomToken(talk.room, { identity: `idle-${index % 20}` });
      const socket = connectSocket(Number(port), hostname);
      socket.on("error", () => {}).pause();
      socket.write(`GET /session/${talk.id}/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`);
      idle.push(socket);
    }
    await talk.say(...Array.from({ length: 30 }, () => "y".repeat(500_000)));

    await reader.next(isEnd, 20_000);
    expect(texts(reader)).toHaveLength(30);
    // Each reader could have up to 30 MB pending.
    expect(usedMemory() - before).toBeLessThan(400 * 2 ** 20);
    // A participant may have five streams, and this participant had all five open.
    const token = await roomToken(talk.room, { identity: "idle-0" });
    const reopen = async () => {
      const { status, body } = await server.getAs(token, `/session/${talk.id}/events`);
      await body?.cancel();
      return status;
    };
    await expect.poll(reopen, { timeout: 20_000 }).toBe(200);
    for (const socket of idle) socket.destroy();
  },
);

test("streams end when the server closes, and when the token expires", async () => {
  const server = await EventServer.start({ databaseUrl: database.url });
  const talk = await PublishedSession.begin(database.sql);
  const reader = await server.open(talk);
  const token = await roomToken(talk.room, { ttl: "3s" });
  const short = await server.getAs(token, `/session/${talk.id}/events`);
  expect(await short.text()).toBe("retry: 1000\n\n");

  const startedAt = Date.now();
  await server[Symbol.asyncDispose]();
  expect(Date.now() - startedAt).toBeLessThan(2_000);
  expect(await reader.ended).toBe(true);
});

test("a listener whose connection breaks, or is refused for a while, loses no durable event", async () => {
  await using proxy = await TcpProxy.start(database.url);
  await using server = await EventServer.start({ databaseUrl: proxy.url });
  const talk = await PublishedSession.begin(database.sql);
  await using reader = await server.open(talk);
  await talk.say("1");
  await reader.next(({ id }) => id === "1.end");
  proxy.cut();
  await talk.say("2");
  await reader.next(({ id }) => id === "2.end");
  proxy.isRefusing = true;
  proxy.cut();
  await talk.say("3");
  await sleep(500);
  proxy.isRefusing = false;
  await reader.next(({ id }) => id === "3.end", 15_000);
  await talk.say("4");
  await reader.next(({ id }) => id === "4.end");

  expect(texts(reader)).toEqual(["1", "2", "3", "4"]);
});

test("a listener whose connection falls silent is replaced", async () => {
  await using proxy = await TcpProxy.start(database.url);
  await using server = await EventServer.start({ databaseUrl: proxy.url, checkMs: 100 });
  const talk = await PublishedSession.begin(database.sql);
  await using reader = await server.open(talk);
  await talk.say("1");
  await reader.next(({ id }) => id === "1.end");
  proxy.pause();
  await talk.say("2");
  await sleep(600);
  const before = proxy.connectionCount;
  proxy.resume();
  await reader.next(({ id }) => id === "2.end");

  expect(before).toBeGreaterThan(2);
  expect(texts(reader)).toEqual(["1", "2"]);
});

test("a publisher whose database is down delays nothing, and readers find the record afterwards", async () => {
  await using proxy = await TcpProxy.start(database.url);
  const publishing = connect(proxy.url, { maxConnections: 1 });
  await using server = await EventServer.start({ databaseUrl: database.url });
  const talk = await PublishedSession.begin(database.sql, publishing);
  await using reader = await server.open(talk);
  await talk.say("1");
  await reader.next(({ id }) => id === "1.end");
  proxy.isRefusing = true;
  proxy.cut();
  const startedAt = Date.now();
  await talk.say("2");
  expect(Date.now() - startedAt).toBeLessThan(1_000);
  proxy.isRefusing = false;
  await reader.next(({ id }) => id === "2.end", 15_000);

  expect(texts(reader)).toEqual(["1", "2"]);
  await publishing.end({ timeout: 1 });
});

test("a turn that another worker resumes continues in the same stream", async () => {
  await using server = await EventServer.start({ databaseUrl: database.url });
  const talk = await PublishedSession.begin(database.sql);
  await using reader = await server.open(talk);
  const turn = talk.begin();
  turn.text("One.");
  turn.start();
  turn.grow("Tw");
  await reader.next(({ data }) => (data["delta"] as { text?: string } | undefined)?.text === "Tw");
  turn.tell({ type: "turn_start", model: "claude-test" });
  turn.text("Two.");
  await turn.end();
  await reader.next(isEnd);

  expect(Object.values(grown(reader.events))).toEqual(["One.", "Two."]);
  expect(reader.names().filter((name) => name === "turn_start")).toHaveLength(1);
});
