import { pino } from "pino";
import { afterEach, expect, test, vi } from "vitest";
import type { ReadyCheck } from "../../../src/http/routes/health-routes.ts";
import { createHttpServer } from "../../../src/http/http-server.ts";

afterEach(() => {
  vi.useRealTimers();
});

function createApp(checks: readonly ReadyCheck[]) {
  const livekit = { url: "ws://livekit", apiKey: "key", apiSecret: "secret" };
  const token = { isOpen: false, secret: undefined };
  return createHttpServer({ logger: pino({ enabled: false }), livekit, publicUrl: livekit.url, checks, token });
}

test("health answers whatever else fails", async () => {
  const app = createApp([{ part: "livekit", check: () => Promise.reject(new Error("gone")) }]);

  const response = await app.inject("/health");

  expect([response.statusCode, response.json()]).toEqual([200, { status: "ok" }]);
});

test("ready succeeds when every part works", async () => {
  const app = createApp([
    { part: "livekit", check: async () => true },
    { part: "database", check: async () => true },
  ]);

  const response = await app.inject("/ready");

  expect([response.statusCode, response.json()]).toEqual([200, { status: "ready", livekit: "ok", database: "ok" }]);
});

test("ready reports the part that failed, without the reason", async () => {
  const app = createApp([
    { part: "livekit", check: async () => true },
    { part: "database", check: () => Promise.reject(new Error("password of parley@10.0.0.1")) },
    { part: "migrations", check: async () => false },
  ]);

  const response = await app.inject("/ready");

  expect(response.statusCode).toBe(503);
  expect(response.json()).toEqual({ status: "not ready", livekit: "ok", database: "failed", migrations: "failed" });
});

test("a part that never answers does not delay the response", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const asked = Promise.withResolvers<void>();
  const check = () => {
    asked.resolve();
    return new Promise<boolean>(() => {});
  };
  const answer = createApp([{ part: "livekit", check }]).inject("/ready");
  await asked.promise;

  await vi.advanceTimersByTimeAsync(3_000);

  expect((await answer).json()).toEqual({ status: "not ready", livekit: "no answer" });
});

test("an unknown route returns a 404 in JSON", async () => {
  const response = await createApp([]).inject("/nope");

  expect([response.statusCode, response.json()]).toEqual([404, { error: "No route GET /nope" }]);
});
