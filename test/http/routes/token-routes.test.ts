import type { InjectOptions } from "fastify";
import { pino } from "pino";
import { TokenVerifier } from "livekit-server-sdk";
import { expect, test } from "vitest";
import { createHttpServer } from "../../../src/http/http-server.ts";
import { tokenAccess, type TokenAccess } from "../../../src/http/routes/token-routes.ts";

const SECRET = "a-secret-of-the-operator";
const livekit = { url: "ws://livekit:7880", apiKey: "key", apiSecret: "secret-of-at-least-thirty-two-characters" };

async function ask(token: TokenAccess, request: InjectOptions) {
  const app = createHttpServer({
    logger: pino({ enabled: false }),
    livekit,
    publicUrl: "wss://public",
    checks: [],
    token,
    metrics: () => "",
  });
  const response = await app.inject(request);
  await app.close();
  return { status: response.statusCode, headers: response.headers, body: response.json<Record<string, string>>() };
}

async function post(token: TokenAccess, body: unknown, headers: Record<string, string> = {}) {
  const type = typeof body === "string" ? { "content-type": "application/json" } : {};
  return ask(token, { method: "POST", url: "/token", payload: body as string, headers: { ...type, ...headers } });
}

const OPEN: TokenAccess = { isOpen: true, secret: undefined, agents: () => ["billing"] };
const GUARDED: TokenAccess = { isOpen: false, secret: SECRET };

test("in development anyone gets the right to join one room, and nothing else", async () => {
  const { status, body, headers } = await post(OPEN, { room: "kitchen", identity: "alice" });
  const claims = await new TokenVerifier(livekit.apiKey, livekit.apiSecret).verify(body["token"] ?? "");

  expect(status).toBe(200);
  expect(body["livekitUrl"]).toBe("wss://public");
  expect(headers["cache-control"]).toBe("no-store");
  expect(claims.sub).toBe("alice");
  expect(claims.video).toEqual({
    room: "kitchen",
    roomJoin: true,
    canPublish: true,
    canSubscribe: true,
    canPublishData: true,
    canUpdateOwnMetadata: false,
  });
});

test("a token carries the participant's name, attributes and metadata, and the agent that was asked for", async () => {
  const metadata = '{"customer":7}';
  const asked = { room: "kitchen", identity: "alice", name: "Ana", attributes: { tier: "gold" }, metadata };

  const { body } = await post(OPEN, { ...asked, agent: "billing" });
  const claims = await new TokenVerifier(livekit.apiKey, livekit.apiSecret).verify(body["token"] ?? "");

  expect(claims).toMatchObject({ name: "Ana", attributes: { tier: "gold", agent: "billing" }, metadata });
  expect(claims.roomConfig).toMatchObject({ agents: [{ metadata }] });
});

test("metadata that is no object is only the participant's", async () => {
  const { body } = await post(OPEN, { room: "kitchen", identity: "alice", metadata: "from the app" });
  const claims = await new TokenVerifier(livekit.apiKey, livekit.apiSecret).verify(body["token"] ?? "");

  expect(claims).toMatchObject({ metadata: "from the app" });
  expect(claims.roomConfig).toBeUndefined();
});

test.each([
  [{}, "room: expected a string; identity: expected a string"],
  [{ room: "", identity: "a" }, "room: expected a non-empty string"],
  [{ room: 7, identity: "a" }, "room: expected a string"],
  [{ room: "r", identity: "a".repeat(129) }, "identity: expected at most 128 characters"],
  [{ room: "r", identity: "agent-AJ_x" }, 'identity: expected a name that does not begin with "agent-"'],
  [{ room: "r", identity: "a\u0000b" }, "identity: expected no control characters"],
  [{ room: "r", identity: "a\ud800" }, "identity: expected no lone surrogates"],
  [{ room: "\udc00", identity: "a" }, "room: expected no lone surrogates"],
  [{ room: "r", identity: "a", roomAdmin: true }, "roomAdmin: unknown field"],
  [{ room: "r", identity: "a", nmae: "Ana" }, 'nmae: unknown field. Did you mean "name"?'],
  [{ room: "r", identity: "a", name: "ä".repeat(129) }, "name: expected at most 256 bytes"],
  [{ room: "r", identity: "a", name: "" }, "name: expected a non-empty string"],
  [{ room: "r", identity: "a", attributes: { tier: 5 } }, "attributes.tier: expected a string"],
  [{ room: "r", identity: "a", attributes: "gold" }, "attributes: expected an object of strings"],
  [{ room: "r", identity: "a", attributes: { a: "x".repeat(65_536) } }, "attributes: expected at most 65536 bytes"],
  [{ room: "r", identity: "a", metadata: {} }, "metadata: expected a string"],
  [{ room: "r", identity: "a", metadata: "x".repeat(524_289) }, "metadata: expected at most 524288 bytes"],
  [
    { room: "r", identity: "a", agent: "billing", attributes: { agent: "default" } },
    "agent: the attribute agent names another agent",
  ],
  [{ room: "r", identity: "a", agent: "biling" }, 'agent: there is no agent "biling". Did you mean "billing"?'],

  ["[]", "body: Invalid input: expected object, received array"],
  ["{", "Body is not valid JSON but content-type is set to 'application/json'"],
])("the error for a bad request contains the field: %j", async (body, error) => {
  expect(await post(OPEN, body)).toMatchObject({ status: 400, body: { error } });
});

test("a body beyond the limit is refused", async () => {
  expect((await post(OPEN, { room: "r".repeat(1_100_000), identity: "a" })).status).toBe(413);
});

test("tokens for another LiveKit are issued to whoever knows TOKEN_SECRET", async () => {
  const body = { room: "r", identity: "a" };

  expect((await post(GUARDED, body)).status).toBe(401);
  // The worker does not even read the body.
  expect((await post(GUARDED, "{")).status).toBe(401);
  expect((await post(GUARDED, body, { authorization: `Bearer ${SECRET}x` })).status).toBe(401);
  expect((await post(GUARDED, body, { authorization: `Bearer ${SECRET}` })).status).toBe(200);
  expect((await post({ isOpen: false, secret: undefined }, body)).status).toBe(403);
});

test.each([
  ["127.0.0.1", undefined, true],
  ["::1", undefined, true],
  ["localhost", undefined, true],
  ["0.0.0.0", undefined, false],
  ["::", undefined, false],
  ["192.168.1.7", undefined, false],
  ["127.0.0.1", "ws://livekit:7880", false],
])("on %s with LIVEKIT_URL %s, tokens are free: %s", async (httpHost, livekitUrl, isOpen) => {
  const token = tokenAccess({ httpHost, livekitUrl, tokenSecret: undefined });

  expect((await post(token, { room: "r", identity: "a" })).status).toBe(isOpen ? 200 : 403);
});

test.each([
  ["localhost:8080", "http://localhost:8080"],
  ["LOCALHOST.:18080", "http://parley.localhost:5173"],
  ["127.0.0.1:8080", "http://127.0.0.1:8080"],
  ["127.8.9.1:80", undefined],
  ["[::1]:8080", "http://[::1]:8080"],
  ["localhost", "https://localhost:3000"],
])("this machine gets access as %s, including from its own page (%s)", async (host, origin) => {
  const headers = { host, ...(origin !== undefined && { origin }) };

  expect((await post(OPEN, { room: "r", identity: "a" }, headers)).status).toBe(200);
});

test.each([
  ["evil.example:8080", "http://evil.example:8080", "Host"],
  ["127.0.0.1.evil.example", undefined, "Host"],
  ["notlocalhost", undefined, "Host"],
  ["192.168.1.7:8080", undefined, "Host"],
  ["not a host", undefined, "Host"],
  ["localhost:8080", "https://evil.example", "Origin"],
  ["localhost:8080", "http://localhost.evil.example:8080", "Origin"],
  ["localhost:8080", "null", "Origin"],
  ["localhost:8080", "", "Origin"],
])("a page from elsewhere is refused whatever it asks for: host %j, origin %j", async (host, origin, header) => {
  const headers = { host, ...(origin !== undefined && { origin }) };
  const refused = { status: 403, body: { error: expect.stringMatching(new RegExp(`^${header}: expected localhost`)) } };

  expect(await post(OPEN, { room: "r", identity: "a" }, headers)).toMatchObject(refused);
  for (const url of ["/health", "/ready", "/metrics", "/session", "/nothing"])
    expect(await ask(OPEN, { method: "GET", url, headers })).toMatchObject(refused);
});

test("a worker for another LiveKit answers under any host name: it is called by name, and open to nobody without a secret", async () => {
  const headers = { host: "parley.example", authorization: `Bearer ${SECRET}`, origin: "https://parley.example" };

  expect((await post(GUARDED, { room: "r", identity: "a" }, headers)).status).toBe(200);
});

test("no page from another origin may read a response", async () => {
  const { headers } = await post(GUARDED, { room: "r", identity: "a" }, { origin: "https://evil.example" });

  expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
});
