import { pino } from "pino";
import { TokenVerifier } from "livekit-server-sdk";
import { expect, test } from "vitest";
import { createHttpServer } from "../../src/http/http-server.ts";
import { type TokenAccess } from "../../src/http/token-routes.ts";

const SECRET = "a-secret-of-the-operator";
const livekit = { url: "ws://livekit:7880", apiKey: "key", apiSecret: "secret-of-at-least-thirty-two-characters" };

async function post(token: TokenAccess, body: unknown, headers: Record<string, string> = {}) {
  const app = createHttpServer({
    logger: pino({ enabled: false }),
    livekit,
    publicUrl: "wss://public",
    checks: [],
    token,
  });
  const type = typeof body === "string" ? { "content-type": "application/json" } : {};
  const response = await app.inject({
    method: "POST",
    url: "/token",
    payload: body as string,
    headers: { ...type, ...headers },
  });
  await app.close();
  return { status: response.statusCode, headers: response.headers, body: response.json<Record<string, string>>() };
}

const OPEN: TokenAccess = { isOpen: true, secret: undefined };
const GUARDED: TokenAccess = { isOpen: false, secret: SECRET };

test("in development anyone gets the right to join one room, and no more", async () => {
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
    roomAdmin: false,
  });
});

test.each([
  [{}, "room: expected a text; identity: expected a text"],
  [{ room: "", identity: "a" }, "room: expected a text that is not empty"],
  [{ room: 7, identity: "a" }, "room: expected a text"],
  [{ room: "r", identity: "a".repeat(129) }, "identity: expected at most 128 characters"],
  [{ room: "r", identity: "agent-AJ_x" }, 'identity: expected no "agent-" at the beginning'],
  [{ room: "r", identity: "a\u0000b" }, "identity: expected no control characters"],
  [{ room: "r", identity: "a", roomAdmin: true }, "roomAdmin: expected no such field"],
  ["[]", "body: Invalid input: expected object, received array"],
  ["{", "Body is not valid JSON but content-type is set to 'application/json'"],
])("a bad request is told which field: %j", async (body, error) => {
  expect(await post(OPEN, body)).toMatchObject({ status: 400, body: { error } });
});

test("a body beyond the limit is refused", async () => {
  expect((await post(OPEN, { room: "r".repeat(70_000), identity: "a" })).status).toBe(413);
});

test("another LiveKit's tokens are given out to whoever knows TOKEN_SECRET", async () => {
  const body = { room: "r", identity: "a" };

  expect((await post(GUARDED, body)).status).toBe(401);
  expect((await post(GUARDED, body, { authorization: `Bearer ${SECRET}x` })).status).toBe(401);
  expect((await post(GUARDED, body, { authorization: `Bearer ${SECRET}` })).status).toBe(200);
  expect((await post({ isOpen: false, secret: undefined }, body)).status).toBe(403);
});

test("no page of another origin is let in", async () => {
  const { headers } = await post(OPEN, { room: "r", identity: "a" }, { origin: "https://evil.example" });

  expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
});
