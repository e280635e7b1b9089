import { expect, test, vi } from "vitest";
import { endedCall } from "../../src/conversation/call.ts";
import { saveCall } from "../../src/store/calls.ts";
import { connect } from "../../src/store/database/pool.ts";
import { type EventHub, openEventHub } from "../../src/store/event-hub.ts";
import { EVENT_CHANNEL } from "../../src/store/events.ts";
import { endPermission } from "../../src/store/permissions/ask-permission.ts";
import { extendPermission } from "../../src/store/permissions/extend-permission.ts";
import { loadRequestMarks, loadSessionMarks } from "../../src/store/sessions/session-marks.ts";
import type { SessionWriter } from "../../src/store/sessions/session-writer.ts";
import { writeBlocks } from "../../src/store/turns/write-blocks.ts";
import { finishTurn, insertTurn } from "../../src/store/turns/write-turns.ts";
import { failure } from "../../src/tool/outcome.ts";
import { forFile } from "../support/lifetimes.ts";
import { TcpProxy } from "../support/servers/tcp-proxy.ts";
import { tempDatabase } from "../support/servers/temp-database.ts";
import {
  newCall,
  newTurn,
  storedCall,
  storedPermission,
  storedSession,
  textBlock,
  writerOf,
} from "./store-fixtures.ts";

const database = forFile(tempDatabase);

const channel = { channel: EVENT_CHANNEL, loadMarks: loadSessionMarks };

/** Follows a session. Counts the gaps that the follower is notified of, and records the events. */
async function follow(hub: EventHub, { lease: { sessionId } }: SessionWriter) {
  const heard = { gaps: 0, events: [] as string[] };
  hub.follow(sessionId, { onEvent: (payload) => heard.events.push(payload), onGap: () => (heard.gaps += 1) });
  await hub.listen();
  return heard;
}

const ends = { state: "completed" } as const;
const outcome = failure("execution_error", "It broke");

/** Each change that a session's followers are notified of, with a function that prepares the change. */
const CHANGES: readonly [string, () => Promise<{ writer: SessionWriter; change: () => Promise<unknown> }>][] = [
  [
    "a turn begins",
    async () => {
      const writer = await storedSession(database.sql);
      return { writer, change: () => insertTurn(writer, newTurn()) };
    },
  ],
  [
    "a block is stored",
    async () => {
      const { writer, turn } = await storedCall(database.sql);
      return { writer, change: () => writeBlocks(writer, [{ turnId: turn.id, block: textBlock(0) }]) };
    },
  ],
  [
    "a turn ends",
    async () => {
      const { writer, turn } = await storedCall(database.sql);
      return { writer, change: () => finishTurn(writer, { turnId: turn.id, ...ends }) };
    },
  ],
  [
    "a call of the turn goes on",
    async () => {
      const { writer, call } = await storedCall(database.sql);
      return { writer, change: () => saveCall(writer, { ...call, state: "running", revision: call.revision + 1 }) };
    },
  ],
  [
    "a call begins and ends",
    async () => {
      const { writer, turn } = await storedCall(database.sql);
      return { writer, change: () => saveCall(writer, endedCall(newCall(turn.id), outcome)) };
    },
  ],
  [
    "a call of an earlier turn ends",
    async () => {
      const { writer, call } = await storedCall(database.sql);
      await insertTurn(writer, newTurn());
      return { writer, change: () => saveCall(writer, endedCall(call, outcome)) };
    },
  ],
  [
    "a permission is asked for",
    async () => {
      const writer = await storedSession(database.sql);
      const { sessionId } = writer.lease;
      return { writer, change: () => storedPermission(database.sql, { sessionId }) };
    },
  ],
  [
    "a permission is given more time",
    async () => {
      const { id: permissionId, sessionId, participantIdentity: by } = await storedPermission(database.sql);
      const extension = { permissionId, sessionId, by, waitMs: 240_000 };
      return { writer: writerOf(database.sql, sessionId), change: () => extendPermission(database.sql, extension) };
    },
  ],
  [
    "a permission is answered",
    async () => {
      const { id: permissionId, sessionId } = await storedPermission(database.sql);
      const writer = writerOf(database.sql, sessionId);
      return { writer, change: () => endPermission(writer, { permissionId, state: "withdrawn" }) };
    },
  ],
];

function pollingHub(cleanup: AsyncDisposableStack): EventHub {
  const { sql } = database;
  const hub = openEventHub({ listenUrl: undefined, ...channel, sql, onError: () => {} });
  cleanup.defer(hub.close);
  return hub;
}

// The tests run concurrently, because each waits for the hub to look for changes, which happens once a second.
test.concurrent.each(CHANGES)(
  "without notifications a follower is notified once when %s, and nobody else is",
  async (_, arrange) => {
    await using cleanup = new AsyncDisposableStack();
    const hub = pollingHub(cleanup);
    const { writer, change } = await arrange();
    const changed = await follow(hub, writer);
    const other = await follow(hub, await storedSession(database.sql));
    await vi.waitUntil(() => changed.gaps === 1 && other.gaps === 1, { timeout: 5_000 });

    await change();

    await vi.waitUntil(() => changed.gaps === 2, { timeout: 5_000 });
    // In this time, the hub looks for changes once more, and finds nothing new.
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect([changed.gaps, other.gaps]).toEqual([2, 1]);
  },
);

test("those waiting for answers notice requests, more time for them and answers, and nothing else", async () => {
  const { sql } = database;
  const { id: permissionId, sessionId, participantIdentity } = await storedPermission(sql);
  const writer = writerOf(sql, sessionId);
  const marks = async () => [...(await loadRequestMarks(sql, { sessionIds: [sessionId, "none"] }))];

  const asked = await marks();
  await insertTurn(writer, newTurn());
  const talkedOn = await marks();
  await extendPermission(sql, { permissionId, sessionId, by: participantIdentity, waitMs: 240_000 });
  const extended = await marks();
  await endPermission(writer, { permissionId, state: "withdrawn" });

  expect(talkedOn).toEqual(asked);
  expect(new Map(asked)).toEqual(
    new Map([
      [sessionId, expect.stringContaining(permissionId)],
      ["none", ""],
    ]),
  );
  expect(extended).not.toEqual(asked);
  expect(new Map(await marks()).get(sessionId)).toBe("");
});

test("a database outage is reported once, and changes made meanwhile are reported after it", async () => {
  await using cleanup = new AsyncDisposableStack();
  const proxy = cleanup.use(await TcpProxy.start(database.url));
  const sql = connect(proxy.url);
  cleanup.defer(() => sql.end({ timeout: 0 }));
  let errors = 0;
  const onError = () => (errors += 1);
  const hub = openEventHub({ listenUrl: undefined, ...channel, sql, onError });
  cleanup.defer(hub.close);
  const writer = await storedSession(database.sql);
  const heard = await follow(hub, writer);
  await expect.poll(() => heard.gaps, { timeout: 3_000 }).toBe(1);
  proxy.isRefusing = true;
  proxy.cut();
  await insertTurn(writer, newTurn());
  await new Promise((resolve) => setTimeout(resolve, 2_500));

  proxy.isRefusing = false;

  await expect.poll(() => heard.gaps, { timeout: 5_000 }).toBe(2);
  expect(errors).toBe(1);
});

test("while the listening connection is lost sessions are polled, and then notifications arrive again", async () => {
  await using cleanup = new AsyncDisposableStack();
  const proxy = cleanup.use(await TcpProxy.start(database.url));
  const { sql } = database;
  const options = { listenUrl: proxy.url, ...channel, sql, onError: () => {}, checkMs: 100 };
  const hub = openEventHub(options);
  cleanup.defer(hub.close);
  const writer = await storedSession(sql);
  const { sessionId } = writer.lease;
  const heard = await follow(hub, writer);
  const notify = (text: string) => sql.notify(EVENT_CHANNEL, `${sessionId} ${text}`);
  await notify("one");
  await expect.poll(() => heard.events).toEqual(["one"]);

  proxy.isRefusing = true;
  proxy.cut();
  await expect.poll(() => heard.gaps, { timeout: 5_000 }).toBe(2);
  await insertTurn(writer, newTurn());
  await expect.poll(() => heard.gaps, { timeout: 5_000 }).toBe(3);
  proxy.isRefusing = false;
  const hears = async () => {
    await notify("two");
    return heard.events.includes("two");
  };

  await expect.poll(hears, { timeout: 10_000 }).toBe(true);
});
