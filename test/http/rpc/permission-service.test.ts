import { createClient, Code, ConnectError } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { connect as connectHttp2, constants } from "node:http2";
import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { pino } from "pino";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { openGrpcServer, type GrpcServer } from "../../../src/http/rpc/grpc-server.ts";
import { PermissionService } from "../../../src/http/rpc/generated/opencode/tool_pb.ts";
import { permissionService } from "../../../src/http/rpc/permission-service.ts";
import { loadPermission } from "../../../src/store/permissions/load-permissions.ts";
import { storedPermission, storedRoom } from "../../store/store-fixtures.ts";
import { EventServer, livekit, roomToken } from "../../support/servers/event-server.ts";
import { respondOverGrpc } from "../../support/clients/grpc-js.ts";
import { tempDatabase, type TempDatabase } from "../../support/servers/temp-database.ts";

let database: TempDatabase;
let server: EventServer;
let grpc: GrpcServer;
let room: string;
let sessionId: string;
let token: string;

const logger = pino({ level: "silent" });
const openGrpc = () =>
  openGrpcServer({
    host: "127.0.0.1",
    port: 0,
    livekit,
    routes: permissionService({ livekit, sql: database.sql, logger }),
  });

beforeAll(async () => {
  database = await tempDatabase();
  server = await EventServer.start({ databaseUrl: database.url });
  grpc = await openGrpc();
  ({ room, sessionId } = await storedRoom(database.sql));
  token = await roomToken(room);
});

afterAll(async () => {
  await grpc.close();
  await server[Symbol.asyncDispose]();
  await database.drop();
});

interface Request {
  readonly sessionId: string;
  readonly permissionId: string;
  readonly response: string;
}

/** Resolves to an empty string on success, otherwise to `<code>: <message>`. */
type Respond = (request: Request, token: string | undefined) => Promise<string>;

function overConnect(transport: Parameters<typeof createClient>[1]): Respond {
  const client = createClient(PermissionService, transport);
  return async (request, as) => {
    const headers = as === undefined ? {} : { authorization: `Bearer ${as}` };
    try {
      await client.respondToPermission(request, { headers });
      return "";
    } catch (error) {
      const { code, rawMessage } = ConnectError.from(error);
      return `${Code[code]}: ${rawMessage}`;
    }
  };
}

/** A client that knows only the proto file. */
function overGrpc(): Respond {
  return async (request, as) => {
    const answer = await respondOverGrpc(grpc.port, request, as);
    return answer === "ok" ? "" : `${Code[answer.code]}: ${answer.message}`;
  };
}

const CLIENTS: readonly (readonly [string, () => Respond])[] = [
  ["Connect", () => overConnect(createConnectTransport({ baseUrl: server.url, httpVersion: "1.1" }))],
  [
    "Connect in JSON",
    () => overConnect(createConnectTransport({ baseUrl: server.url, httpVersion: "1.1", useBinaryFormat: false })),
  ],
  ["gRPC-Web", () => overConnect(createGrpcWebTransport({ baseUrl: server.url, httpVersion: "1.1" }))],
  ["gRPC by Connect", () => overConnect(createGrpcTransport({ baseUrl: `http://127.0.0.1:${grpc.port}` }))],
  ["plain gRPC", overGrpc],
];

const ask = () => storedPermission(database.sql, { sessionId });

test.each(CLIENTS)("%s decides a permission, once", async (_, open) => {
  const respond = open();
  const permission = await ask();

  expect(await respond({ sessionId, permissionId: permission.id, response: "approve" }, token)).toBe("");
  expect(await loadPermission(database.sql, { permissionId: permission.id })).toMatchObject({
    state: "approved",
    repliedBy: "ann",
    repliedVia: "rpc",
  });
  expect(await respond({ sessionId, permissionId: permission.id, response: "reject" }, token)).toBe(
    "FailedPrecondition: The permission request is closed",
  );
});

test.each(CLIENTS)("%s may omit the session, and reject", async (_, open) => {
  const { id } = await ask();

  expect(await open()({ sessionId: "", permissionId: id, response: "reject" }, token)).toBe("");
  expect(await loadPermission(database.sql, { permissionId: id })).toMatchObject({ state: "rejected" });
});

test.each(CLIENTS)("%s receives the reason why nothing was decided", async (_, open) => {
  const respond = open();
  const { id } = await ask();
  const good = { sessionId, permissionId: id, response: "approve" };
  const expired = await roomToken(room, { ttl: "1 minute ago" });
  const elsewhere = await roomToken((await storedRoom(database.sql)).room);
  const somebodyElse = await roomToken(room, { identity: "ben" });

  expect(await respond(good, undefined)).toBe("Unauthenticated: Authorization: expected Bearer and a LiveKit token");
  expect(await respond(good, expired)).toBe("Unauthenticated: The token has expired");
  expect(await respond(good, elsewhere)).toBe("PermissionDenied: The token is for another room");
  expect(await respond(good, somebodyElse)).toBe("PermissionDenied: The permission request is for another participant");
  expect(await respond({ ...good, permissionId: "none" }, token)).toBe("NotFound: There is no such permission request");
  expect(await respond({ ...good, sessionId: "none" }, token)).toBe("NotFound: There is no such permission request");
  expect(await respond({ ...good, permissionId: "" }, token)).toBe("InvalidArgument: permission_id: expected an id");
  expect(await respond({ ...good, sessionId: "s".repeat(257) }, token)).toBe(
    "InvalidArgument: session_id: expected at most 256 characters",
  );
  expect(await respond({ ...good, permissionId: "a\0b" }, token)).toBe("NotFound: There is no such permission request");
  expect(await respond({ ...good, sessionId: "a\0b" }, token)).toBe("NotFound: There is no such permission request");
  expect(await respond({ ...good, response: "yes" }, token)).toBe(
    "InvalidArgument: response: expected one of approve, once, always, reject",
  );
  expect(await loadPermission(database.sql, { permissionId: id })).toMatchObject({ state: "asked" });
});

test("a request that is too long is refused", async () => {
  const respond = CLIENTS[0]?.[1]();

  expect(await respond?.({ sessionId, permissionId: "p".repeat(70_000), response: "approve" }, token)).toMatch(
    /^ResourceExhausted/,
  );
});

test("other routes on the HTTP server still read their JSON", async () => {
  const { id } = await ask();

  const answer = await server.postAs(token, `/session/${sessionId}/permissions/${id}`, { response: "approve" });

  expect(await answer.json()).toBe(true);
});

test("closing the gRPC server ends open connections", async () => {
  const own = await openGrpc();
  const session = connectHttp2(`http://127.0.0.1:${own.port}`);
  await once(session, "connect");
  const closed = once(session, "close");

  await own.close();

  await closed;
  expect(session.destroyed).toBe(true);
});

const CALL = { ":method": "POST", ":path": "/opencode.tool.PermissionService/RespondToPermission" };

test("a call that never finishes its request is ended, and so is a kept-alive connection without calls", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const own = await openGrpc();
  onTestFinished(() => own.close());
  const session = connectHttp2(`http://127.0.0.1:${own.port}`);
  await once(session, "remoteSettings");
  const call = session.request({ ...CALL, "content-type": "application/grpc", authorization: `Bearer ${token}` });
  const isOver = { call: false, session: false };
  call.on("error", () => {}).once("close", () => (isOver.call = true));
  session.once("close", () => (isOver.session = true));
  const alive = async () => new Promise<void>((done) => session.ping(() => done()));
  await new Promise((done) => call.write("a", done));
  await alive();

  vi.advanceTimersByTime(29_000);
  call.write("a");
  await alive();
  expect(isOver.call).toBe(false);
  vi.advanceTimersByTime(1_000);
  await vi.waitUntil(() => isOver.call);
  await alive();
  expect(call.rstCode).toBe(constants.NGHTTP2_CANCEL);

  vi.advanceTimersByTime(59_000);
  await alive();
  expect(isOver.session).toBe(false);
  vi.advanceTimersByTime(1_000);
  await vi.waitUntil(() => isOver.session);
});

test("gRPC refuses a call without a token before its request has arrived", async () => {
  const session = connectHttp2(`http://127.0.0.1:${grpc.port}`);
  onTestFinished(() => session.destroy());
  const call = session.request({ ...CALL, "content-type": "application/grpc" });

  call.write(Buffer.of(0, 0, 0, 0x0f, 0));
  call.resume();

  expect((await once(call, "trailers"))[0]).toMatchObject({ "grpc-status": String(Code.Unauthenticated) });
  await once(call, "close");
});

test("Connect refuses a call without a token before its request has arrived", async () => {
  const { hostname, port } = new URL(server.url);
  const socket = connectTcp(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  const head = ["Host: x", "Content-Type: application/proto", "Content-Length: 4000"].join("\r\n");

  socket.write(`POST ${CALL[":path"]} HTTP/1.1\r\n${head}\r\n\r\n`);

  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 401 /u);
});

/** Opens connections, each with a call that hangs. Resolves once every connection is open or has been closed again. */
async function hold(port: number, count: number) {
  const connections = Array.from({ length: count }, () => connectHttp2(`http://127.0.0.1:${port}`));
  await Promise.all(
    connections.map(async (session) => {
      session.on("error", () => {});
      session.request({ ...CALL, "content-type": "application/grpc" }).on("error", () => {});
      await Promise.race([once(session, "remoteSettings"), once(session, "close")]).catch(() => {});
    }),
  );
  return connections;
}

test("gRPC serves callers with a token even when others have used up all connections without one", async () => {
  const own = await openGrpc();
  const early = overConnect(createGrpcTransport({ baseUrl: `http://127.0.0.1:${own.port}` }));
  const request = async () => ({ sessionId, permissionId: (await ask()).id, response: "approve" });
  expect(await early(await request(), token)).toBe("");

  const held = await hold(own.port, 505);

  const isOpen = () => held.filter((session) => !session.destroyed);
  await vi.waitUntil(() => isOpen().length === 499);
  expect(held.slice(0, 6).every((session) => session.destroyed)).toBe(true);
  expect(await early(await request(), token)).toBe("");
  expect(await respondOverGrpc(own.port, await request(), token)).toBe("ok");
  await vi.waitUntil(() => isOpen().length < 499);
  await own.close();
});
