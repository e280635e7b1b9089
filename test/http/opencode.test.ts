import { createOpencodeClient as createRootClient, type Event as RootEvent } from "@opencode-ai/sdk";
import { createOpencodeClient, type Event } from "@opencode-ai/sdk/v2";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createEventPublisher } from "../../src/session/events/event-publisher.ts";
import type { SessionWatcher } from "../../src/session/events/session-event.ts";
import { type PermissionRecord, loadPermission } from "../../src/store/permissions/load-permissions.ts";
import { storedPermission, storedRoom, writerOf } from "../store/store-fixtures.ts";
import { EventServer, roomToken } from "../support/servers/event-server.ts";
import { OpencodeEvents } from "../support/clients/opencode-events.ts";
import { tempDatabase, type TempDatabase } from "../support/servers/temp-database.ts";

let database: TempDatabase;
let server: EventServer;
let room: string;
let sessionId: string;
let headers: Record<string, string>;
let publish: SessionWatcher;

beforeAll(async () => {
  database = await tempDatabase();
  server = await EventServer.start({ databaseUrl: database.url, times: { heartbeatMs: 50 } });
  ({ room, sessionId } = await storedRoom(database.sql));
  headers = { authorization: `Bearer ${await roomToken(room)}` };
  publish = createEventPublisher({ writer: writerOf(database.sql, sessionId), logger: pino({ level: "silent" }) });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await database.drop();
});

const client = (changes: Record<string, string> = headers) =>
  createOpencodeClient({ baseUrl: server.url, headers: changes });
const rootClient = () => createRootClient({ baseUrl: server.url, headers });
const ask = () => storedPermission(database.sql, { sessionId });
const read = async ({ id }: PermissionRecord) => {
  const permission = await loadPermission(database.sql, { permissionId: id });
  if (!permission) throw new Error("not stored");
  return permission;
};
const openEvents = (as: Record<string, string> = headers) =>
  OpencodeEvents.open<Event>((signal) => client(as).event.subscribe({}, { signal }));

test("opencode's root client answers over its own route", async () => {
  const permission = await ask();
  const answer = () =>
    rootClient().postSessionIdPermissionsPermissionId({
      path: { id: sessionId, permissionID: permission.id },
      body: { response: "always" },
    });

  expect((await answer()).data).toBe(true);
  expect(await read(permission)).toMatchObject({ state: "approved", isAlways: true });
  const again = await answer();
  expect([again.data, again.response.status]).toEqual([undefined, 409]);
});

test("opencode's v2 client answers in the old and the new way, and lists open requests", async () => {
  const [respond, reply, newest, open] = [await ask(), await ask(), await ask(), await ask()];
  const { permission, v2 } = client();

  const answers = [
    await permission.respond({ sessionID: sessionId, permissionID: respond.id, response: "once" }),
    await permission.reply({ requestID: reply.id, reply: "reject", message: "Not there" }),
    await v2.session.permission.reply({ sessionID: sessionId, requestID: newest.id, reply: "once" }),
  ];

  expect(answers.map(({ data, response }) => [response.status, data ?? undefined])).toEqual([
    [200, true],
    [200, true],
    [204, undefined],
  ]);
  expect((await read(reply)).message).toBe("Not there");
  expect([(await read(respond)).state, (await read(newest)).state]).toEqual(["approved", "approved"]);
  const { data: list = [] } = await permission.list();
  expect(list.map(({ id }) => id)).toContain(open.id);
  expect(list.map(({ id }) => id)).not.toContain(reply.id);
});

test("opencode's v2 client reads our errors in its own format", async () => {
  const { permission } = client();

  const unknown = await permission.reply({ requestID: "none", reply: "once" });
  const bad = await permission.reply({ requestID: "none", reply: "yes" as "once" });
  const nobody = await client({}).permission.reply({ requestID: "none", reply: "once" });

  expect(unknown.error).toEqual({
    _tag: "PermissionNotFoundError",
    requestID: "none",
    message: "There is no such permission request",
  });
  expect(bad.error).toMatchObject({ _tag: "InvalidRequestError", field: "reply" });
  expect([nobody.response.status, nobody.error]).toEqual([
    401,
    { _tag: "UnauthorizedError", message: "Authorization: expected Bearer and a LiveKit token" },
  ]);
});

test("opencode's v2 client sees a permission asked and replied", async () => {
  await using events = await openEvents();
  const permission = await ask();
  publish({ type: "permission_asked", permission });

  const asked = await events.next("permission.asked", ({ properties }) => properties.id === permission.id);
  await client().permission.reply({ requestID: asked.properties.id, reply: "always" });
  publish({ type: "permission_replied", permission: await read(permission) });
  const replied = await events.next("permission.replied", ({ properties }) => properties.requestID === permission.id);

  expect(asked).toEqual({
    id: expect.stringMatching(/^evt_/),
    type: "permission.asked",
    properties: {
      id: permission.id,
      sessionID: sessionId,
      permission: "edit",
      patterns: ["notes/today.md"],
      metadata: { title: "Write notes/today.md" },
      always: ["notes/today.md"],
      tool: { messageID: permission.messageId, callID: permission.callId },
    },
  });
  expect(replied.properties).toEqual({ sessionID: sessionId, requestID: permission.id, reply: "always" });
});

test("opencode's root client receives the same stream, and a heartbeat as an event", async () => {
  await using events = await OpencodeEvents.open((signal) => rootClient().event.subscribe({ signal }));

  await expect.poll(() => events.events.map(({ type }) => type as string)).toContain("server.heartbeat");
  expect(events.events[0]).toEqual({
    id: expect.any(String),
    type: "server.connected",
    properties: {},
  } satisfies Record<keyof RootEvent | "id", unknown>);
});

test("a stream opened later starts with the open requests and their calls", async () => {
  const permission = await ask();

  await using events = await openEvents();

  const isIt = ({ properties }: { properties: { id: string } }) => properties.id === permission.id;
  await events.next("permission.asked", isIt);
  const { properties } = await events.next(
    "message.part.updated",
    ({ properties: { part } }) => part.type === "tool" && part.callID === permission.callId,
  );
  expect(properties).toEqual({
    sessionID: permission.sessionId,
    time: expect.any(Number),
    part: expect.objectContaining({
      type: "tool",
      tool: "get_forecast",
      state: { status: "pending", input: { city: "Utrecht" }, raw: '{"city":"Utrecht"}' },
    }),
  });
});

test.each([
  ["expired", "reject"],
  ["withdrawn", "reject"],
] as const)("a request that has %s is a %s to opencode", async (state, reply) => {
  await using events = await openEvents();
  const permission = await ask();
  publish({ type: "permission_asked", permission });
  await database.sql`update permissions set state = ${state} where id = ${permission.id}`;
  publish({ type: "permission_replied", permission: await read(permission) });

  const replied = await events.next("permission.replied", ({ properties }) => properties.requestID === permission.id);

  expect(replied.properties.reply).toBe(reply);
});

test("a stream for a room without a session waits for it, and sees nothing from other rooms", async () => {
  const elsewhere = `room-${sessionId}-later`;
  await using events = await openEvents({ authorization: `Bearer ${await roomToken(elsewhere)}` });
  const others = await ask();
  publish({ type: "permission_asked", permission: others });

  const own = await storedRoom(database.sql, elsewhere);
  const permission = await storedPermission(database.sql, { sessionId: own.sessionId });
  await events.next("permission.asked", ({ properties }) => properties.id === permission.id);

  expect(events.all("permission.asked").map(({ properties }) => properties.sessionID)).toEqual([own.sessionId]);
});

test("without a token no stream opens", async () => {
  const answer = await server.get("/event");

  expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
});
