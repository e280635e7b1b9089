import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEventPublisher } from "../../src/session/events/event-publisher.ts";
import { endPermission } from "../../src/store/permissions/ask-permission.ts";
import { extendPermission } from "../../src/store/permissions/extend-permission.ts";
import { replyToPermission, type PermissionDecision } from "../../src/store/permissions/reply-to-permission.ts";
import type { PermissionRecord } from "../../src/store/permissions/load-permissions.ts";
import { PermissionFeed } from "../../src/http/events/permission-feed.ts";
import { SharedReads } from "../../src/http/events/shared-reads.ts";
import { toAskedEvent, toExtendedEvent, toRepliedEvent } from "../../src/http/permissions/show-permission.ts";
import type { SseEvent } from "../../src/http/sse/sse-stream.ts";
import { storedPermission, storedRoom, writerOf } from "../store/store-fixtures.ts";
import { EventServer, roomToken } from "../support/servers/event-server.ts";
import { tempDatabase, type TempDatabase } from "../support/servers/temp-database.ts";

let database: TempDatabase;
let server: EventServer;

beforeAll(async () => {
  database = await tempDatabase();
  server = await EventServer.start({ databaseUrl: database.url });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await database.drop();
});

const REJECT: PermissionDecision = { kind: "reject", message: "Not today" };

async function decide({ id, sessionId }: PermissionRecord, decision = REJECT): Promise<PermissionRecord> {
  const reply = { permissionId: id, sessionId, by: "ann", via: "data" as const, decision };
  const decided = await replyToPermission(database.sql, reply);
  if (typeof decided === "string") throw new Error(decided);
  return decided;
}

/** Records the events and ids that a stream shows for permissions. */
async function startFeed() {
  const { sessionId } = await storedRoom(database.sql);
  const events: string[] = [];
  const feed = new PermissionFeed({
    reads: new SharedReads(database.sql),
    sessionId,
    identity: "ann",
    send: async ({ event, data }: SseEvent) => {
      const { id, permissionId = id } = data as { id?: string; permissionId?: string };
      events.push(`${event} ${permissionId}`);
    },
    toAsked: toAskedEvent,
    toExtended: toExtendedEvent,
    toReplied: toRepliedEvent,
  });
  return { feed, events, ask: () => storedPermission(database.sql, { sessionId }) };
}

test("a permission is streamed when it is requested and when it is answered; a late reader starts with the open ones", async () => {
  const { room, sessionId } = await storedRoom(database.sql);
  const publish = createEventPublisher({
    writer: writerOf(database.sql, sessionId),
    logger: pino({ level: "silent" }),
  });
  await using reader = await server.open({ id: sessionId, room });
  const permission = await storedPermission(database.sql, { sessionId });
  const { messageId: turnId, callId } = permission;

  publish({ type: "permission_asked", permission });
  const { data: asked } = await reader.next(({ event }) => event === "permission.asked");
  await using late = await server.open({ id: sessionId, room });
  const { data: askedLate } = await late.next(({ event }) => event === "permission.asked");
  const decided = await decide(permission);
  publish({ type: "permission_replied", permission: decided });
  const { data: replied } = await reader.next(({ event }) => event === "permission.replied");
  await late.next(({ event }) => event === "permission.replied");

  expect(asked).toMatchObject({ id: permission.id, turnId, callId, title: "Write notes/today.md" });
  expect(asked["leftMs"]).toBeGreaterThan(0);
  const time = { leftMs: 0, metadataJson: "" };
  expect({ ...askedLate, ...time }).toEqual({ ...asked, ...time });
  expect(replied).toEqual({
    permissionId: permission.id,
    turnId,
    callId,
    sessionId,
    state: "rejected",
    message: "Not today",
    repliedBy: "ann",
    repliedVia: "data",
    repliedAt: decided.repliedAt,
  });
});

test("an answer without a notification is shown at the stream's next poll", async () => {
  const { feed, events, ask } = await startFeed();
  const [open, answered] = [await ask(), await ask()];
  await feed.showNow();
  await decide(answered);

  await feed.showNow();
  await feed.showNow();

  expect(events).toEqual([
    `permission.asked ${open.id}`,
    `permission.asked ${answered.id}`,
    `permission.replied ${answered.id}`,
  ]);
});

test("a request that ended before it was shown is shown as requested first, and each event appears once", async () => {
  const { feed, events, ask } = await startFeed();
  const permission = await ask();
  await endPermission(writerOf(database.sql, permission.sessionId), {
    permissionId: permission.id,
    state: "withdrawn",
  });

  for (let time = 0; time < 3; time++) await feed.showReported({ permissionId: permission.id });
  await feed.showNow();

  expect(events).toEqual([`permission.asked ${permission.id}`, `permission.replied ${permission.id}`]);
});

test("more time is reported once, and not for a request that has ended", async () => {
  const { feed, events, ask } = await startFeed();
  const permission = await ask();
  const { id: permissionId, sessionId } = permission;
  const extend = () => extendPermission(database.sql, { permissionId, sessionId, by: "ann", waitMs: 240_000 });
  await feed.showReported({ permissionId });
  await extend();
  await feed.showReported({ permissionId });
  await feed.showNow();
  await database.sql`
    update permissions set created_at = created_at - interval '1 minute', expires_at = expires_at - interval '1 minute'
    where id = ${permissionId}`;
  await extend();
  await decide(permission);

  await feed.showReported({ permissionId });

  expect(events).toEqual(["asked", "extended", "replied"].map((event) => `permission.${event} ${permissionId}`));
});

test("another session's permission is not shown, and nonsense causes no query", async () => {
  const { feed, events } = await startFeed();
  const others = await storedPermission(database.sql);

  await feed.showReported({ permissionId: others.id });
  await feed.showReported({ permissionId: 7 });
  await feed.showReported({});

  expect(events).toEqual([]);
});

test.each([
  ["name", ["permission.asked", "permission.replied"]],
  ["off", []],
])("others see nothing of the arguments of a tool with the detail %s", async (detail, expected) => {
  const { room, sessionId } = await storedRoom(database.sql);
  const secret = { pattern: ["secret"], title: "secret", metadata: { input: "secret" } };
  const asked = await storedPermission(database.sql, { sessionId, ...secret });
  await database.sql`update tool_calls set detail = ${detail} where id = ${asked.callId}`;
  const last = await storedPermission(database.sql, { sessionId });
  const publish = createEventPublisher({
    writer: writerOf(database.sql, sessionId),
    logger: pino({ level: "silent" }),
  });
  const token = await roomToken(room, { identity: "ben" });
  const lists = ["/permission", `/session/${sessionId}/permissions`];
  await using ben = await server.open({ id: sessionId, room }, { identity: "ben" });
  await using ann = await server.open({ id: sessionId, room });
  const ofAll = await Promise.all(lists.map(async (path) => (await server.getAs(token, path)).json()));
  publish({ type: "permission_replied", permission: await decide(asked, { kind: "reject", message: "secret" }) });
  publish({ type: "permission_replied", permission: await decide(last) });
  const isLast = ({ data }: { data: object }) => "permissionId" in data && data.permissionId === last.id;
  await Promise.all([ben.next(isLast), ann.next(isLast)]);

  const idOf = ({ id, permissionId = id }: Record<string, unknown>) => permissionId;
  const seen = ben.events.filter(({ data }) => idOf(data) === asked.id);
  expect(seen.map(({ event }) => event)).toEqual(expected);
  expect(ben.text).not.toContain("secret");
  expect(JSON.stringify(ofAll)).not.toContain("secret");
  expect(ofAll.map((list) => (list as unknown[]).length)).toEqual(detail === "off" ? [1, 1] : [2, 2]);
  expect(ann.text.match(/secret/gu)?.length).toBeGreaterThan(3);
});
