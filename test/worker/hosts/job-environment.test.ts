import { afterEach, expect, test, vi } from "vitest";
import { becomeJobEnvironment, jobEnvironment } from "../../../src/worker/hosts/job-environment.ts";

const own = { ...process.env };
afterEach(() => {
  vi.unstubAllEnvs();
  becomeJobEnvironment(own);
});

const endpoints = {
  livekit: { url: "ws://127.0.0.1:7880", apiKey: "key", apiSecret: "secret" },
  databaseUrl: "postgres://parley:own@127.0.0.1/parley",
  listenUrl: undefined,
  model: { name: "scripted", apiKey: "model key", baseUrl: "http://127.0.0.1:9000" },
};
const environmentOf = (reloads: boolean) => jobEnvironment({ endpoints, hubUrl: "http://127.0.0.1:1", reloads });

test("a host process gets the services that were started, and everything that the author's tools may read", () => {
  vi.stubEnv("BRAVE_API_KEY", "of a tool");
  vi.stubEnv("DATABASE_URL", "postgres://elsewhere/db");

  expect(environmentOf(false)).toMatchObject({
    BRAVE_API_KEY: "of a tool",
    DATABASE_URL: endpoints.databaseUrl,
    DATABASE_DIRECT_URL: "",
    LIVEKIT_URL: endpoints.livekit.url,
    ANTHROPIC_BASE_URL: endpoints.model.baseUrl,
  });
});

test("it does not contain the worker's own secrets, not even from `.env`", () => {
  for (const name of ["TOKEN_SECRET", "WEBHOOK_SECRET_FILE", "PGPASSWORD"]) vi.stubEnv(name, "of the worker alone");

  becomeJobEnvironment(environmentOf(false));

  expect(Object.values(process.env)).not.toContain("of the worker alone");
  expect([process.env["TOKEN_SECRET"], process.env["WEBHOOK_SECRET_FILE"]]).toEqual(["", ""]);
  expect(process.env["PGPASSWORD"]).toBeUndefined();
});

test("it contains the setting for reloading only where files are reloaded", () => {
  const added = Object.keys(environmentOf(true)).filter((name) => !(name in environmentOf(false)));

  expect(added).toEqual(["PARLEY_RELOADS"]);
});
