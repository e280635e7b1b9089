import { createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EventServer, livekit, roomToken } from "../support/servers/event-server.ts";
import { PublishedSession } from "../support/doubles/published-session.ts";
import { tempDatabase, type TempDatabase } from "../support/servers/temp-database.ts";

let database: TempDatabase;
let server: EventServer;
let talk: PublishedSession;
let other: PublishedSession;

beforeAll(async () => {
  database = await tempDatabase();
  server = await EventServer.start({ databaseUrl: database.url });
  [talk, other] = await Promise.all([PublishedSession.begin(database.sql), PublishedSession.begin(database.sql)]);
  await talk.say("One.", "Two.");
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await database.drop();
});

/** Returns a token with claims that no SDK would write. */
function signed(claims: object): string {
  const { apiKey, apiSecret } = livekit;
  const now = Math.floor(Date.now() / 1_000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "HS256" })}.${part({ iss: apiKey, nbf: now, exp: now + 60, ...claims })}`;
  return `${text}.${createHmac("sha256", apiSecret).update(text).digest("base64url")}`;
}

const statusAndError = async (response: Response) => [
  response.status,
  ((await response.json()) as { error?: string }).error,
];

test("a client finds its own room's session, and no other room's", async () => {
  const found = await server.getAs(await roomToken(talk.room), "/session");

  expect(found.headers.get("cache-control")).toBe("no-store");
  expect(await found.json()).toEqual({ id: talk.id, conversationId: talk.room, room: talk.room });
  const none = await server.getAs(await roomToken("empty"), "/session");
  expect([none.status, await none.text()]).toEqual([204, ""]);
});

test.each([
  ["no token", async () => ({}), 401, "Authorization: expected Bearer and a LiveKit token"],
  [
    "another scheme",
    async () => ({ authorization: "Basic YTpi" }),
    401,
    "Authorization: expected Bearer and a LiveKit token",
  ],
  ["no JWT", async () => ({ authorization: "Bearer abc" }), 401, "The token is not valid for this server"],
  [
    "another key's signature",
    async () => ({
      authorization: `Bearer ${await roomToken(talk.room, { secret: "another-secret-of-thirty-two-characters" })}`,
    }),
    401,
    "The token is not valid for this server",
  ],
  [
    "an expired token",
    async () => ({ authorization: `Bearer ${await roomToken(talk.room, { ttl: "1 minute ago" })}` }),
    401,
    "The token has expired",
  ],
  [
    "a token that joins no room",
    async () => ({ authorization: `Bearer ${await roomToken(talk.room, { roomJoin: false })}` }),
    403,
    "The token does not allow joining a room",
  ],
  [
    "a token that may not subscribe",
    async () => ({ authorization: `Bearer ${await roomToken(talk.room, { canSubscribe: false })}` }),
    403,
    "The token does not allow subscribing to other participants",
  ],
  [
    "a token whose identity is an object",
    async () => ({ authorization: `Bearer ${signed({ sub: { a: 1 }, video: { roomJoin: true, room: talk.room } })}` }),
    403,
    "The token contains an invalid participant or room name",
  ],
  [
    "a token whose room is a list",
    async () => ({ authorization: `Bearer ${signed({ sub: "ann", video: { roomJoin: true, room: [talk.room] } })}` }),
    403,
    "The token contains an invalid participant or room name",
  ],
])("%s is refused", async (...[, headers, status, error]) => {
  for (const path of ["/session", `/session/${talk.id}/events`]) {
    const response = await server.get(path, await headers());

    expect(response.headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
    expect(await statusAndError(response)).toEqual([status, error]);
  }
});

test.each(["token", "access_token"])("a token in the URL (%s) is refused, even a valid one", async (name) => {
  const token = await roomToken(talk.room);

  const response = await server.getAs(token, `/session/${talk.id}/events?${name}=${token}`);

  expect(await statusAndError(response)).toEqual([
    401,
    "A token in the URL is not accepted: send it as Authorization: Bearer",
  ]);
});

test("another room's session and one that does not exist get the same answer", async () => {
  const token = await roomToken(talk.room);
  const ids = [other.id, other.room, "none", "%00", "a".repeat(300)];

  const answers = await Promise.all(
    ids.map(async (id) => statusAndError(await server.getAs(token, `/session/${id}/events`))),
  );

  expect(answers).toEqual(ids.map(() => [404, "There is no such session in the token's room"]));
});

test.each([
  ["x", "Last-Event-ID: expected an id from this stream"],
  ["1", "Last-Event-ID: expected an id from this stream"],
  ["-1.0", "Last-Event-ID: expected an id from this stream"],
  ["1.0'; drop table turns", "Last-Event-ID: expected an id from this stream"],
  ["99999999999.0", "Last-Event-ID: expected an id from this stream"],
  ["1.2", "Last-Event-ID: this session has no such event"],
  ["2.end", "Last-Event-ID: this session has no such event"],
  ["0.0", "Last-Event-ID: this session has no such event"],
])("Last-Event-ID %s is refused with a clear 400", async (lastEventId, error) => {
  const authorization = `Bearer ${await roomToken(talk.room)}`;

  const response = await server.get(`/session/${talk.id}/events`, { authorization, "last-event-id": lastEventId });

  expect(await statusAndError(response)).toEqual([400, error]);
});

test("a participant may have five streams; one that ends makes room for another", async () => {
  const open = () => server.open(talk, { identity: "greedy" });
  const streams = await Promise.all([open(), open(), open(), open(), open()]);

  await expect(open()).rejects.toThrow("429");
  await using _ofAnother = await server.open(talk, { identity: "other" });
  await streams[0]?.close();
  await expect
    .poll(async () =>
      open().then(
        (stream) => streams.push(stream) > 0,
        () => false,
      ),
    )
    .toBe(true);

  await Promise.all(streams.map((stream) => stream.close()));
});

test("HEAD opens no stream", async () => {
  const headers = { authorization: `Bearer ${await roomToken(talk.room)}` };

  expect((await fetch(`${server.url}/session/${talk.id}/events`, { method: "HEAD", headers })).status).toBe(404);
});
