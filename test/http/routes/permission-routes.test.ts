import { afterAll, beforeAll, expect, test } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { literalPattern } from "../../../src/permission/match-pattern.ts";
import { type PermissionRecord, loadPermission } from "../../../src/store/permissions/load-permissions.ts";
import { storedPermission, storedRoom, type PermissionChanges } from "../../store/store-fixtures.ts";
import { EventServer, roomToken } from "../../support/servers/event-server.ts";
import { TcpProxy } from "../../support/servers/tcp-proxy.ts";
import { tempDatabase, type TempDatabase } from "../../support/servers/temp-database.ts";

let database: TempDatabase;
let server: EventServer;
let room: string;
let sessionId: string;
let token: string;

beforeAll(async () => {
  database = await tempDatabase();
  const rules = [{ type: "edit", pattern: "secrets/**", action: "deny" as const }];
  server = await EventServer.start({ databaseUrl: database.url, rules });
  ({ room, sessionId } = await storedRoom(database.sql));
  token = await roomToken(room);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await database.drop();
});

const ask = (changes: PermissionChanges = {}) => storedPermission(database.sql, { sessionId, ...changes });
const read = async (response: Response) => [response.status, await response.json()];
const stateOf = async ({ id }: PermissionRecord) => (await loadPermission(database.sql, { permissionId: id }))?.state;

/** The three ways to reply, each in the form in which its clients send it. */
const WAYS = [
  ["ours", ({ id }: PermissionRecord) => `/session/${sessionId}/permissions/${id}`, "response"],
  ["opencode's", ({ id }: PermissionRecord) => `/permission/${id}/reply`, "reply"],
  ["opencode's newest", ({ id }: PermissionRecord) => `/api/session/${sessionId}/permission/${id}/reply`, "reply"],
] as const;

test("spec/004's whole PermissionResponse is accepted: the path contains both of its ids", async () => {
  const permission = await ask();
  const { id: permissionId } = permission;
  const body = { sessionId, permissionId, response: "approve" };

  const answer = await server.postAs(token, `/session/${sessionId}/permissions/${permissionId}`, body);

  expect([await read(answer), await stateOf(permission)]).toEqual([[200, true], "approved"]);
});

test("a body with another permission or session than its path is refused", async () => {
  const permission = await ask();
  const path = `/session/${sessionId}/permissions/${permission.id}`;

  const answers = [{ permissionId: "other" }, { sessionId: "other" }].map(async (other) => {
    return (await server.postAs(token, path, { response: "approve", ...other })).status;
  });

  expect(await Promise.all(answers)).toEqual([400, 404]);
  expect(await stateOf(permission)).toBe("asked");
});

test.each([
  ["approve", "approved", false],
  ["once", "approved", false],
  ["always", "approved", true],
  ["reject", "rejected", false],
])("%s is stored and answered with true", async (response, state, isAlways) => {
  const permission = await ask();

  const answer = await server.postAs(token, `/session/${sessionId}/permissions/${permission.id}`, { response });

  expect(await read(answer)).toEqual([200, true]);
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(await loadPermission(database.sql, { permissionId: permission.id })).toMatchObject({
    state,
    isAlways,
    repliedBy: "ann",
    repliedVia: "http",
  });
});

test.each([
  ["once", "approved"],
  ["always", "approved"],
  ["reject", "rejected"],
])("opencode's reply %s is stored", async (reply, state) => {
  const [permission, other] = [await ask(), await ask()];

  const answer = await server.postAs(token, `/permission/${permission.id}/reply`, { reply });
  const newest = await server.postAs(token, `/api/session/${sessionId}/permission/${other.id}/reply`, { reply });

  expect(await read(answer)).toEqual([200, true]);
  expect([newest.status, await newest.text()]).toEqual([204, ""]);
  expect([await stateOf(permission), await stateOf(other)]).toEqual([state, state]);
});

test("the session may be given by its conversation id, and a rejection carries its message", async () => {
  const permission = await ask();
  const body = { response: "reject", message: "Not\0 today" };

  const answer = await server.postAs(token, `/session/${room}/permissions/${permission.id}`, body);

  expect(await read(answer)).toEqual([200, true]);
  expect(await loadPermission(database.sql, { permissionId: permission.id })).toMatchObject({
    message: "Not\uFFFD today",
  });
});

const SCHEMA = {
  type: "object",
  properties: { path: { type: "string" } },
  required: ["path"],
  additionalProperties: false,
} as const;

test("edited arguments are stored if the tool accepts them", async () => {
  const permission = await ask({ editedInputSchema: SCHEMA });
  const body = { response: "approve", editedInput: { path: "b.md" } };

  expect(await read(await server.postAs(token, WAYS[0][1](permission), body))).toEqual([200, true]);
  expect(await loadPermission(database.sql, { permissionId: permission.id })).toMatchObject({
    editedInput: { path: "b.md" },
  });
});

test.each([
  [null, { path: "b.md" }, "editedInput: the arguments of this tool cannot be edited"],
  [SCHEMA, { path: 1 }, 'editedInput: Invalid parameter "path": must be string'],
  [SCHEMA, {}, "editedInput: Invalid parameter \"path\": must have required property 'path'"],
  [SCHEMA, [], "editedInput: expected an object"],
  // The schema that was shown accepts these arguments, but the tool's current schema does not.
  [SCHEMA, { path: "" }, 'editedInput: Invalid parameter "path": Too small: expected string to have >=1 characters'],
  [SCHEMA, { path: "secrets/key" }, "editedInput: a rule does not allow it (edit: secrets/key)"],
  [SCHEMA, { path: "broken" }, "editedInput: the tool could not determine what these arguments touch"],
])("invalid edited arguments are a 400, and the request stays open", async (schema, editedInput, error) => {
  const permission = await ask({ editedInputSchema: schema });

  const answer = await server.postAs(token, WAYS[0][1](permission), { response: "approve", editedInput });

  expect(await read(answer)).toEqual([400, { error }]);
  expect(await stateOf(permission)).toBe("asked");
});

test.each([
  ['{"id":9007199254740993}', "editedInput.id: too large for a number, send it as a string"],
  ['{"list":[1e400]}', "editedInput.list[0]: too large for a number, send it as a string"],
  ['{"path":"a.md","path":"b.md"}', "editedInput.path: the key appears twice"],
])("edited arguments %s, which would be read differently, are a 400", async (editedInput, error) => {
  const permission = await ask({ editedInputSchema: { type: "object" } });
  const body = `{"response":"approve","editedInput":${editedInput}}`;

  const answer = await server.postAs(token, WAYS[0][1](permission), body);

  expect([await read(answer), await stateOf(permission)]).toEqual([[400, { error }], "asked"]);
});

test("the tool computes what edited arguments touch: without the tool they are a 400, and the request stays open", async () => {
  const permission = await ask({ editedInputSchema: SCHEMA, toolName: "gone" });
  const body = { response: "always", editedInput: { path: "b.md" } };

  const error = "editedInput: the tool no longer exists, so these arguments cannot be checked";
  expect(await read(await server.postAs(token, WAYS[0][1](permission), body))).toEqual([400, { error }]);
  expect(await stateOf(permission)).toBe("asked");
});

test("always with edited arguments grants what these touch", async () => {
  const identity = `ann-${createId()}`;
  const permission = await ask({ editedInputSchema: SCHEMA, participantIdentity: identity });
  const own = await roomToken(room, { identity });
  const body = { response: "always", editedInput: { path: "b[1].md" } };

  expect(await read(await server.postAs(own, WAYS[0][1](permission), body))).toEqual([200, true]);
  const grants = (await (await server.getAs(own, "/permissions/grants")).json()) as { pattern: string }[];
  expect(grants.map(({ pattern }) => pattern)).toEqual([literalPattern("b[1].md")]);
});

test.each([
  [undefined, "body: expected an object"],
  [[], "body: expected an object"],
  [{}, "response: expected one of approve, once, always, reject"],
  [{ response: "yes" }, "response: expected one of approve, once, always, reject"],
  [{ response: "reject", message: 1 }, "message: expected a string"],
  [{ response: "reject", message: "a".repeat(4_001) }, "message: expected at most 4000 characters"],
  [{ response: "approve", message: "but slowly" }, "message: not allowed with an approval"],
  [{ response: "reject", editedInput: {} }, "editedInput: not allowed with a rejection"],
  [{ response: "approve", remember: true }, "remember: unknown field"],
])("the body %j is a 400 that contains the field", async (body, error) => {
  const permission = await ask();
  const headers = body === undefined ? {} : { "content-type": "application/json" };

  const answer = await fetch(`${server.url}${WAYS[0][1](permission)}`, {
    method: "POST",
    headers: { ...headers, authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

  expect(await read(answer)).toEqual([400, { error }]);
  expect(await stateOf(permission)).toBe("asked");
});

test("a body that is not declared as JSON is a 415, and the request stays open", async () => {
  const permission = await ask();

  const answer = await fetch(`${server.url}${WAYS[0][1](permission)}`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", authorization: `Bearer ${token}` },
    body: '{"response":"approve"}',
  });

  expect(answer.status).toBe(415);
  expect(await stateOf(permission)).toBe("asked");
});

test("a bad body from opencode is its InvalidRequestError", async () => {
  const permission = await ask();

  const answer = await server.postAs(token, `/permission/${permission.id}/reply`, { reply: "approve" });

  const message = "reply: expected one of once, always, reject";
  expect(await read(answer)).toEqual([400, { _tag: "InvalidRequestError", message, field: "reply" }]);
});

test.each(WAYS)("an unknown id is a 404 (%s)", async (_, pathOf, field) => {
  const answer = await server.postAs(token, pathOf({ id: "none" } as PermissionRecord), { [field]: "once" });

  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({
    _tag: "PermissionNotFoundError",
    requestID: "none",
    message: "There is no such permission request",
  });
});

test.each(["none", createId(), "%00"])(
  "a permission from another session than the given one (%s) is a 404",
  async (id) => {
    const permission = await ask();

    const answer = await server.postAs(token, `/session/${id}/permissions/${permission.id}`, { response: "approve" });

    expect(answer.status).toBe(404);
    expect(await stateOf(permission)).toBe("asked");
  },
);

test.each(WAYS)("a second answer is a 409, whatever its decision (%s)", async (_, pathOf, field) => {
  const permission = await ask();
  await server.postAs(token, pathOf(permission), { [field]: "once" });

  const answer = await server.postAs(token, pathOf(permission), { [field]: "reject" });

  expect(answer.status).toBe(409);
  expect(await answer.json()).toMatchObject({
    error: "The permission request is closed",
  });
  expect(await stateOf(permission)).toBe("approved");
});

test("of two simultaneous answers, one is true and the other a 409", async () => {
  const permission = await ask();
  const answer = (response: string) => server.postAs(token, WAYS[0][1](permission), { response });

  const [yes, no] = await Promise.all([answer("approve"), answer("reject")]);

  expect(new Set([yes.status, no.status])).toEqual(new Set([200, 409]));
  expect(await stateOf(permission)).toBe(yes.status === 200 ? "approved" : "rejected");
});

test("an answer after the deadline is a 409", async () => {
  const permission = await ask({ waitMs: 0 });

  expect((await server.postAs(token, WAYS[0][1](permission), { response: "approve" })).status).toBe(409);
});

test.each(WAYS)("another room's token is a 403 (%s)", async (_, pathOf, field) => {
  const permission = await ask();
  const other = await storedRoom(database.sql);

  for (const stranger of [await roomToken(other.room), await roomToken("a-room-without-a-session")]) {
    const answer = await server.postAs(stranger, pathOf(permission), { [field]: "once" });

    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ error: "The token is for another room" });
  }
  expect(await stateOf(permission)).toBe("asked");
});

test.each(WAYS)("another participant of the room gets a 403 (%s)", async (_, pathOf, field) => {
  const permission = await ask();

  const answer = await server.postAs(await roomToken(room, { identity: "ben" }), pathOf(permission), {
    [field]: "once",
  });

  expect(answer.status).toBe(403);
  expect(await answer.json()).toMatchObject({ error: "The permission request is for another participant" });
  expect(await stateOf(permission)).toBe("asked");
});

test.each([
  ["no token", undefined, "Authorization: expected Bearer and a LiveKit token"],
  ["an expired token", { ttl: "1 minute ago" }, "The token has expired"],
  ["a token that has only just expired", { ttl: "1 second ago" }, "The token has expired"],
  [
    "another key's token",
    { secret: "another-secret-of-thirty-two-characters" },
    "The token is not valid for this server",
  ],
])("%s is a 401 on every route", async (_, changes, error) => {
  const permission = await ask();
  const headers: Record<string, string> = changes ? { authorization: `Bearer ${await roomToken(room, changes)}` } : {};

  const answers = await Promise.all([
    ...WAYS.map(([, pathOf, field]) => server.post(pathOf(permission), { [field]: "once" }, headers)),
    ...[`/session/${sessionId}/permissions`, "/permission", "/permissions/grants"].map((path) =>
      server.get(path, headers),
    ),
    fetch(`${server.url}/permissions/grants/none`, { method: "DELETE", headers }),
  ]);

  for (const answer of answers) {
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(await answer.text()).toContain(error);
  }
  expect(await stateOf(permission)).toBe("asked");
});

test("without a token the response is a 401 whatever else is wrong, and a JSON request without a body is valid", async () => {
  const send = async (path: string, request: RequestInit, as?: string) => {
    const headers = { "content-type": "application/json", ...(as !== undefined && { authorization: `Bearer ${as}` }) };
    return (await fetch(`${server.url}${path}`, { ...request, headers })).status;
  };
  const grant = "/permissions/grants/none";
  const answer = `/session/${sessionId}/permissions/none`;

  expect(await send(grant, { method: "DELETE" })).toBe(401);
  expect(await send(grant, { method: "DELETE" }, token)).toBe(404);
  expect(await send(answer, { method: "POST", body: "{" })).toBe(401);
  expect(await send(answer, { method: "POST", body: "{" }, token)).toBe(400);
  expect(await send("/permission/%00/reply", { method: "POST", body: "{" })).toBe(401);
});

test("an id with NUL is a 404 on every route, and a token that contains one a 403", async () => {
  const body = { response: "once" };
  const answers = await Promise.all([
    server.postAs(token, `/session/${sessionId}/permissions/a%00b`, body),
    server.postAs(token, `/session/a%00b/permissions/none`, body),
    server.postAs(token, "/permission/a%00b/reply", { reply: "once" }),
    server.postAs(token, `/api/session/${sessionId}/permission/a%00b/reply`, { reply: "once" }),
    server.getAs(token, "/session/a%00b/permissions"),
    server.getAs(token, "/session/a%00b/events"),
    fetch(`${server.url}/permissions/grants/a%00b`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${token}` },
    }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));

  const named = [await roomToken("a\0b"), await roomToken(room, { identity: "a\0b" })];
  const read = await Promise.all(named.map((as) => server.getAs(as, "/session")));
  expect(read.map(({ status }) => status)).toEqual([403, 403]);
});

test("open requests are listed with the time left, oldest first", async () => {
  const { room: own, sessionId: ownId } = await storedRoom(database.sql);
  const [first, second, answered] = [
    await ask({ sessionId: ownId, metadata: { path: "notes/today.md" } }),
    await ask({ sessionId: ownId, editedInputSchema: SCHEMA }),
    await ask({ sessionId: ownId }),
  ];
  await ask({ sessionId: ownId, waitMs: 0 });
  const ownToken = await roomToken(own);
  await server.postAs(ownToken, `/session/${ownId}/permissions/${answered.id}`, { response: "approve" });

  const list = (await (await server.getAs(ownToken, `/session/${ownId}/permissions`)).json()) as Record<
    string,
    unknown
  >[];

  expect(list).toEqual([
    {
      id: first.id,
      type: "edit",
      pattern: ["notes/today.md"],
      sessionId: ownId,
      messageId: first.messageId,
      callId: first.callId,
      title: "Write notes/today.md",
      metadataJson: expect.stringMatching(/^{"path":"notes\/today.md","allowEditedInput":false,/),
      createdAt: first.createdAt,
      participantIdentity: "ann",
      expiresAt: first.expiresAt,
      leftMs: expect.any(Number),
    },
    expect.objectContaining({
      id: second.id,
      metadataJson: expect.stringContaining('"allowEditedInput":true'),
    }),
  ]);
  expect(list[0]?.["leftMs"]).toBeLessThanOrEqual(60_000);
  expect(list[0]?.["leftMs"]).toBeGreaterThan(50_000);
});

test("opencode's list has the same requests in its own format, and is empty for a room without a session", async () => {
  const { room: own, sessionId: ownId } = await storedRoom(database.sql);
  const { id, messageId, callId } = await ask({ sessionId: ownId });

  const list = await server.getAs(await roomToken(own), "/permission");

  expect(await list.json()).toEqual([
    {
      id,
      sessionID: ownId,
      permission: "edit",
      patterns: ["notes/today.md"],
      metadata: { title: "Write notes/today.md" },
      always: ["notes/today.md"],
      tool: { messageID: messageId, callID: callId },
    },
  ]);
  expect(await (await server.getAs(await roomToken("empty"), "/permission")).json()).toEqual([]);
});

test("the list for another room's session is a 403, for a missing session a 404", async () => {
  const other = await storedRoom(database.sql);
  const list = async (id: string) => read(await server.getAs(token, `/session/${id}/permissions`));

  expect(await list(other.sessionId)).toEqual([403, { error: "The token is for another room" }]);
  expect(await list("none")).toEqual([404, { error: "There is no such session" }]);
});

test("grants are listed and revoked by the identity that made them", async () => {
  const identity = `ann-${createId()}`;
  const [own, stranger] = [await roomToken(room, { identity }), await roomToken(room, { identity: "ben" })];
  const permission = await ask({ participantIdentity: identity });
  await server.postAs(own, WAYS[0][1](permission), { response: "always" });
  const grants = async (as: string) =>
    (await (await server.getAs(as, "/permissions/grants")).json()) as { id: string }[];
  const revoke = async (as: string, id: string) =>
    read(
      await fetch(`${server.url}/permissions/grants/${id}`, {
        method: "DELETE",
        headers: { authorization: `Bearer ${as}` },
      }),
    );

  const [grant] = await grants(own);
  expect(grant).toEqual({
    id: expect.any(String),
    toolName: "write",
    type: "edit",
    pattern: "notes/today.md",
    createdAt: expect.any(Number),
  });
  expect(await grants(stranger)).not.toContainEqual(grant);
  expect(await revoke(stranger, grant?.id ?? "")).toEqual([404, { error: "There is no such grant" }]);
  // The room differs, but the identity is the same.
  expect(await revoke(await roomToken("elsewhere", { identity }), grant?.id ?? "")).toEqual([200, true]);
  expect(await revoke(own, grant?.id ?? "")).toEqual([404, { error: "There is no such grant" }]);
  expect(await grants(own)).toEqual([]);
});

test("while the database is down, an answer is a 503, and counts when it is repeated", async () => {
  const permission = await ask();
  await using proxy = await TcpProxy.start(database.url);
  await using cutOff = await EventServer.start({ databaseUrl: proxy.url });
  proxy.isRefusing = true;
  proxy.cut();

  const away = await cutOff.postAs(token, WAYS[0][1](permission), { response: "approve" });
  expect(await read(away)).toEqual([503, { error: "The database is unavailable: try again later" }]);
  expect(away.headers.get("retry-after")).toBe("5");
  proxy.isRefusing = false;

  const back = async () => (await cutOff.postAs(token, WAYS[0][1](permission), { response: "approve" })).status;
  await expect.poll(back, { timeout: 10_000 }).toBe(200);
});

test("the approver gets more time, and nobody else does", async () => {
  const permission = await ask({ waitMs: 5_000 });
  const path = `${WAYS[0][1](permission)}/extend`;

  const others = await server.postAs(await roomToken(room, { identity: "bob" }), path, undefined);
  const answer = await server.postAs(token, path, undefined);

  expect(await read(others)).toEqual([403, { error: "The permission request is for another participant" }]);
  const { expiresAt, leftMs } = (await answer.json()) as { expiresAt: number; leftMs: number };
  expect(leftMs).toBeGreaterThan(50_000);
  expect(await loadPermission(database.sql, { permissionId: permission.id })).toMatchObject({ expiresAt });
});

test("an approver who asks for more time again and again is told when more is possible", async () => {
  const path = `${WAYS[0][1](await ask())}/extend`;

  const answers = [await server.postAs(token, path, undefined), await server.postAs(token, path, undefined)];

  expect(answers.map(({ status }) => status)).toEqual([200, 429]);
  const after = answers[1]?.headers.get("retry-after");
  expect(Number(after)).toBeGreaterThan(0);
  expect(await answers[1]?.json()).toEqual({
    error: `The permission request was extended a moment ago: try again in ${after} s`,
  });
});

test("there is no more time for a request that was answered, or has been open for too long", async () => {
  const [answered, old] = [await ask(), await ask()];
  await server.postAs(token, WAYS[0][1](answered), { response: "once" });
  await database.sql`update permissions set created_at = now() - interval '1 hour' where id = ${old.id}`;

  const answers = [answered, old].map(async (each) =>
    read(await server.postAs(token, `${WAYS[0][1](each)}/extend`, undefined)),
  );

  expect(await Promise.all(answers)).toEqual([
    [409, { error: "The permission request is closed" }],
    [409, { error: "The permission request has ended or cannot be extended any further" }],
  ]);
});
