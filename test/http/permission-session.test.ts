import { Code, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { createOpencodeClient as createRootClient, type Event as RootEvent } from "@opencode-ai/sdk";
import { createOpencodeClient, type Event } from "@opencode-ai/sdk/v2";
import { pino } from "pino";
import { expect, test } from "vitest";
import { openGrpcServer } from "../../src/http/rpc/grpc-server.ts";
import { PermissionService } from "../../src/http/rpc/generated/opencode/tool_pb.ts";
import { permissionService } from "../../src/http/rpc/permission-service.ts";
import { TestAgent } from "../support/agent.ts";
import { EventServer, livekit, roomToken } from "../support/servers/event-server.ts";
import { respondOverGrpc } from "../support/clients/grpc-js.ts";
import { guardedTool } from "../support/guarded-tool.ts";
import { reply, text, toolUse } from "../../src/model-server/step.ts";
import { OpencodeEvents } from "../support/clients/opencode-events.ts";
import { toolResults } from "../support/model-view.ts";

interface OpenPermission {
  readonly id: string;
  readonly sessionId: string;
  readonly leftMs: number;
}

/** Starts a session in a real room, and the HTTP server. The model asks to write a file. */
async function startWriting(
  options: Parameters<typeof guardedTool>[0] = {},
  paths: readonly string[] = ["notes/a.md"],
) {
  const cleanup = new AsyncDisposableStack();
  const { tool, ran } = guardedTool(options);
  const agent = cleanup.use(await TestAgent.start({ tools: { write: tool } }));
  const server = cleanup.use(await EventServer.start({ databaseUrl: agent.databaseUrl }));
  const user = await agent.client("user", { features: ["permissions"] });
  const uses = paths.map((path, index) => toolUse("write", { path }, `toolu_${index}`));
  agent.model.script([reply(uses), reply([text("Done.")])]);
  const token = await roomToken(agent.roomName, { identity: "user" });
  const headers = { authorization: `Bearer ${token}` };
  /** Waits for the only open permission. */
  const asked = async (): Promise<OpenPermission> => {
    const list = async () =>
      (await (await server.getAs(token, `/session/${agent.roomName}/permissions`)).json()) as OpenPermission[];
    await expect.poll(list, { timeout: 10_000 }).toHaveLength(1);
    const [permission] = await list();
    if (!permission) throw new Error("It is gone");
    return permission;
  };
  return {
    agent,
    server,
    user,
    token,
    headers,
    ran,
    asked,
    [Symbol.asyncDispose]: () => cleanup.disposeAsync(),
  };
}

test("opencode's v2 client receives a request from a real session, answers, and sees the call run", async () => {
  await using world = await startWriting();
  const { agent, user, ran, headers } = world;
  const client = createOpencodeClient({ baseUrl: world.server.url, headers });
  await using events = await OpencodeEvents.open<Event>((signal) => client.event.subscribe({}, { signal }));
  const messageId = await user.say("Write it");

  const { properties: asked } = await events.next("permission.asked");
  expect(ran).toEqual([]);
  const { data: list } = await client.permission.list();
  expect(list).toEqual([asked]);
  const { data } = await client.permission.respond({
    sessionID: asked.sessionID,
    permissionID: asked.id,
    response: "once",
  });

  expect(data).toBe(true);
  expect(await user.answerTo(messageId)).toBe("Done.");
  expect(ran).toEqual(["notes/a.md"]);
  const { properties: replied } = await events.next("permission.replied");
  expect(replied).toEqual({ sessionID: asked.sessionID, requestID: asked.id, reply: "once" });
  await events.next("message.part.updated", ({ properties: { part } }) => isTool(part, "completed"));
  const parts = events.all("message.part.updated").map(({ properties }) => properties.part);
  const statuses = new Set(parts.map((part) => part.type === "tool" && part.state.status));
  expect([...statuses]).toEqual(["pending", "running", "completed"]);
  const call = { messageID: asked.tool?.messageID, callID: asked.tool?.callID };
  expect(parts.at(-1)).toEqual({
    ...call,
    id: call.callID,
    sessionID: asked.sessionID,
    type: "tool",
    tool: "write",
    state: {
      status: "completed",
      input: { path: "notes/a.md" },
      output: "wrote notes/a.md",
      title: "write",
      metadata: expect.objectContaining({ logs: [], execution: "server" }),
      time: { start: expect.any(Number), end: expect.any(Number) },
    },
  });
  expect(agent.model.rejections).toEqual([]);
});

const isTool = (part: { type: string; state?: unknown }, status: string) =>
  part.type === "tool" && (part.state as { status: string }).status === status;

test("opencode's root client rejects, and the call ends as an error part", async () => {
  await using world = await startWriting();
  const { user, ran, headers } = world;
  const client = createRootClient({ baseUrl: world.server.url, headers });
  await using events = await OpencodeEvents.open<RootEvent>((signal) => client.event.subscribe({ signal }));
  const messageId = await user.say("Write it");
  const { id: permissionID, sessionId: id } = await world.asked();

  const { data } = await client.postSessionIdPermissionsPermissionId({
    path: { id, permissionID },
    body: { response: "reject" },
  });

  expect(data).toBe(true);
  await user.answerTo(messageId);
  const { properties } = await events.next("message.part.updated", ({ properties: { part } }) => isTool(part, "error"));
  expect(properties.part).toMatchObject({
    tool: "write",
    state: { status: "error", input: { path: "notes/a.md" }, error: "Not run: the participant rejected it" },
  });
  expect(ran).toEqual([]);
});

test.each(["Connect", "gRPC-Web", "gRPC"])("an answer from %s lets the call run", async (name) => {
  await using world = await startWriting();
  const { agent, server, user, ran, headers } = world;
  const routes = permissionService({ livekit, sql: agent.sql, logger: pino({ level: "silent" }) });
  const grpc = await openGrpcServer({ host: "127.0.0.1", port: 0, livekit, routes });
  const transport = {
    Connect: () => createConnectTransport({ baseUrl: server.url, httpVersion: "1.1" }),
    "gRPC-Web": () => createGrpcWebTransport({ baseUrl: server.url, httpVersion: "1.1" }),
    gRPC: () => createGrpcTransport({ baseUrl: `http://127.0.0.1:${grpc.port}` }),
  }[name as "gRPC"]();
  const client = createClient(PermissionService, transport);
  const messageId = await user.say("Write it");
  const { id: permissionId, sessionId } = await world.asked();

  await client.respondToPermission({ sessionId, permissionId, response: "approve" }, { headers });

  expect(await user.answerTo(messageId)).toBe("Done.");
  expect(ran).toEqual(["notes/a.md"]);
  await grpc.close();
});

test("an answer from grpc-js, which knows only the proto file, lets the call run, once", async () => {
  await using world = await startWriting();
  const routes = permissionService({ livekit, sql: world.agent.sql, logger: pino({ level: "silent" }) });
  const grpc = await openGrpcServer({ host: "127.0.0.1", port: 0, livekit, routes });
  const messageId = await world.user.say("Write it");
  const { id: permissionId, sessionId } = await world.asked();
  const respond = () => respondOverGrpc(grpc.port, { sessionId, permissionId, response: "approve" }, world.token);

  expect(await respond()).toBe("ok");
  expect(await respond()).toEqual({
    code: Code.FailedPrecondition,
    message: "The permission request is closed",
  });
  expect(await world.user.answerTo(messageId)).toBe("Done.");
  expect(world.ran).toEqual(["notes/a.md"]);
  await grpc.close();
});

test("a rejection over HTTP carries its message to the model", async () => {
  await using world = await startWriting();
  const messageId = await world.user.say("Write it");
  const { id, sessionId } = await world.asked();

  const body = { response: "reject", message: "Not that file" };
  const answer = await world.server.postAs(world.token, `/session/${sessionId}/permissions/${id}`, body);

  expect(await answer.json()).toBe(true);
  await world.user.answerTo(messageId);
  expect(toolResults(world.agent)).toEqual([
    {
      content: "Not run: the participant rejected it. What the participant said: Not that file",
      isError: true,
    },
  ]);
});

test("a call runs with the arguments that replaced the model's", async () => {
  await using world = await startWriting({ allowEditedInput: true });
  const messageId = await world.user.say("Write it");
  const { id, sessionId } = await world.asked();
  await using reader = await world.server.open({ id: sessionId, room: world.agent.roomName }, { identity: "user" });
  const path = `/session/${sessionId}/permissions/${id}`;

  const bad = await world.server.postAs(world.token, path, { response: "approve", editedInput: { path: 7 } });
  const good = await world.server.postAs(world.token, path, { response: "approve", editedInput: { path: "b.md" } });

  expect([bad.status, good.status]).toEqual([400, 200]);
  expect(await world.user.answerTo(messageId)).toBe("Done.");
  expect(world.ran).toEqual(["b.md"]);
  const { data } = await reader.next(({ event, data: { status } }) => event === "tool_state" && status === "success");
  expect(data["inputJson"]).toBe('{"path":"notes/a.md"}');
  expect(JSON.parse(String(data["metadataJson"]))).toMatchObject({ editedInput: '{"path":"b.md"}' });
});

test("while a call waits, wrong answers change nothing, and the first of two valid ones counts", async () => {
  await using world = await startWriting();
  const { server, user, token, ran } = world;
  const messageId = await user.say("Write it");
  const { id, sessionId } = await world.asked();
  const path = `/session/${sessionId}/permissions/${id}`;
  const room = world.agent.roomName;
  const statusAs = async (changes: Parameters<typeof roomToken>[1], of = room) =>
    (await server.postAs(await roomToken(of, changes), path, { response: "approve" })).status;

  expect(await statusAs({ identity: "another" })).toBe(403);
  expect(await statusAs({ identity: "user" }, "another-room")).toBe(403);
  expect(await statusAs({ identity: "user", ttl: "1 minute ago" })).toBe(401);
  expect((await server.postAs(token, path, { response: "perhaps" })).status).toBe(400);
  expect((await server.postAs(token, `${path}x`, { response: "approve" })).status).toBe(404);
  expect(ran).toEqual([]);
  const both = await Promise.all([
    server.postAs(token, path, { response: "approve" }),
    server.postAs(token, path, { response: "approve" }),
  ]);

  expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 409]));
  expect(await user.answerTo(messageId)).toBe("Done.");
  expect(ran).toEqual(["notes/a.md"]);
});

test("of many calls that wait at once, each is decided separately, by the first answer to it", async () => {
  const paths = Array.from({ length: 20 }, (_, index) => `${index}.md`);
  await using world = await startWriting({}, paths);
  const { agent, server, user, token, ran } = world;
  const messageId = await user.say("Write them");
  const list = async () =>
    (await (await server.getAs(token, "/permission")).json()) as { id: string; patterns: [string] }[];
  await expect.poll(async () => (await list()).length, { timeout: 10_000 }).toBe(20);
  const allowed: string[] = [];
  const statuses: number[] = [];
  const answer = async (id: string, path: string, response: string) => {
    const { status } = await server.postAs(token, `/session/${agent.roomName}/permissions/${id}`, { response });
    statuses.push(status);
    if (status === 200 && response === "always") allowed.push(path);
  };
  await Promise.all(
    (await list()).flatMap(({ id, patterns: [path] }) => ["always", "reject"].map((word) => answer(id, path, word))),
  );

  expect(await user.answerTo(messageId)).toBe("Done.");
  expect(statuses.filter((status) => status === 200)).toHaveLength(20);
  expect(statuses.filter((status) => status === 409)).toHaveLength(20);
  expect(new Set(ran)).toEqual(new Set(allowed));
  const grants = (await (await server.getAs(token, "/permissions/grants")).json()) as { pattern: string }[];
  expect(new Set(grants.map(({ pattern }) => pattern))).toEqual(new Set(allowed));
});

test("an answer to a session without a worker is kept for the next worker", async () => {
  await using world = await startWriting();
  const { agent, user, ran } = world;
  const messageId = await user.say("Write it");
  const { id, sessionId } = await world.asked();
  await agent.leave();

  const path = `/session/${sessionId}/permissions/${id}`;
  const answer = await world.server.postAs(world.token, path, { response: "approve" });
  await agent.join();

  expect(await answer.json()).toBe(true);
  expect(await user.answerTo(messageId)).toBe("Done.");
  expect(ran).toEqual(["notes/a.md"]);
});
