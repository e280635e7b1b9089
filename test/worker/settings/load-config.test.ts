import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AppError } from "../../../src/errors/app-error.ts";
import { connect } from "../../../src/store/database/pool.ts";
import { databasePlace } from "../../../src/worker/settings/database-url.ts";
import { loadConfig } from "../../../src/worker/settings/load-config.ts";
import { missingSettings } from "../../../src/worker/settings/missing-settings.ts";

let folder: string;
let fileCount = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-config-"));
  await writeFile(join(folder, "parley.config.ts"), `export default { instructions: "Be kind." };`);
});
afterAll(() => rm(folder, { recursive: true }));

async function loadFile(source: string, env: NodeJS.ProcessEnv = {}) {
  const name = `config-${fileCount++}.ts`;
  await writeFile(join(folder, name), source);
  return loadConfig({ PARLEY_CONFIG: name, ...env }, folder);
}

test("the shortest config file gets all defaults", async () => {
  const config = await loadConfig({}, folder);

  expect(config).toMatchObject({
    instructions: "Be kind.",
    model: { name: "claude-sonnet-5-5", maxTokens: 4096 },
    toolsFolder: join(folder, "tools"),
    maxSteps: 10,
    toolTimeoutMs: 30_000,
    toolResultMaxBytes: 100_000,
    modelIdleTimeoutMs: 30_000,
    onNewMessage: "queue",
    livekitPort: 7880,
    postgresPort: 0,
    httpHost: "127.0.0.1",
    httpPort: 8080,
    workerPort: 8081,
    maxSessions: 20 * availableParallelism(),
    sessionsPerProcess: 50,
    drainSeconds: 10,
    logLevel: "info",
    dataDir: join(folder, ".data"),
    cacheDir: join(folder, ".cache"),
  });
  expect(config.anthropicApiKey).toBeUndefined();
});

test("the environment takes precedence over the file", async () => {
  const source = `export default { instructions: "x", model: { name: "from-file", effort: "low" } };`;

  const config = await loadFile(source, { ANTHROPIC_MODEL: "from-environment", PARLEY_DATA_DIR: "/elsewhere" });

  expect(config.model).toEqual({ name: "from-environment", maxTokens: 4096, effort: "low", serverTools: [] });
  expect(config.dataDir).toBe("/elsewhere");
});

test("plugins of the file take precedence over STT and TTS, and count as speech", async () => {
  const voice = "voice: { listen: () => {}, speak: [() => {}, () => {}] }";
  const config = await loadFile(`export default { instructions: "Be brief.", ${voice} }`, { STT: "deepgram" });
  expect(config.speech).toMatchObject({ stt: "none", tts: "none" });
  expect(config.sessionsPerProcess).toBe(10);
});

test("a rule with braces is refused, because such a denial would deny nothing", async () => {
  const rules = (pattern: string) =>
    `export default { instructions: "x", permission: { rules: [{ type: "read", pattern: ${JSON.stringify(pattern)}, action: "deny" }] } };`;

  for (const pattern of ["secrets/{a,b}/**", "{a,b{c}}"])
    await expect(loadFile(rules(pattern))).rejects.toThrow("{a,b} is not supported: write a rule for each");
  for (const pattern of ["app/{id}/**", "a\\{a,b}", "a,b", "[id]"])
    expect((await loadFile(rules(pattern))).permission.rules).toMatchObject([{ pattern }]);
});

test.each([
  ["state: z.object({ order: z.array(z.string()) })", "expected a schema that accepts {}: give each field a default"],
  ["state: { order: [] }", "expected a zod object"],
  ['continueConversation: "never"', "expected true, false, {withinMs: number} or a function"],
  ["continueConversation: { withinMs: 0 }", "continueConversation.withinMs: expected number to be >0, got 0"],
])("a config with %s is refused", async (field, message) => {
  const source = `import { z } from "zod"; export default { instructions: "x", ${field} };`;
  await expect(loadFile(source)).rejects.toThrow(message);
});

test("a .env file counts, but the real environment takes precedence, and an empty value counts as missing", async () => {
  const cwd = await mkdtemp(join(folder, "env-"));
  await writeFile(join(cwd, "parley.config.ts"), `export default { instructions: process.env.HTTP_PORT ?? "x" };`);
  await writeFile(join(cwd, ".env"), "HTTP_PORT=9000\nWORKER_PORT=9001\nLIVEKIT_URL=\n");
  const env = { WORKER_PORT: "9002" };

  const config = await loadConfig(env, cwd);

  expect(config).toMatchObject({ httpPort: 9000, workerPort: 9002, livekitUrl: undefined });
  expect(env).toMatchObject({ HTTP_PORT: "9000" });
});

test("loading again in a job process gives the same config", async () => {
  const env = { HTTP_PORT: "9000" };

  expect(await loadConfig(env, folder)).toEqual(await loadConfig(env, folder));
});

const PASSWORD = "a@b/c%d?e#f:g 'h'\"i\\j%40";

test.each([
  ["postgres://parley@db:5432/parley", PASSWORD, PASSWORD],
  ["postgres://parley:own%40@db/parley", PASSWORD, "own@"],
  ["postgres://parley@db/parley", undefined, ""],
])("the password in %s with PGPASSWORD %j is the one that connects", async (databaseUrl, password, expected) => {
  const env = { DATABASE_URL: databaseUrl, ...(password !== undefined && { PGPASSWORD: password }) };

  const config = await loadConfig(env, folder);

  expect(connect(config.databaseUrl ?? "").options.pass).toBe(expected);
  expect(await loadConfig({ DATABASE_URL: config.databaseUrl }, folder)).toEqual(config);
});

test("PGPASSWORD is the password for both database addresses", async () => {
  const env = {
    DATABASE_URL: "postgres://parley@pooler:6432/parley",
    DATABASE_DIRECT_URL: "postgres://parley@db/parley",
    PGPASSWORD: "a@b",
  };

  expect(await loadConfig(env, folder)).toMatchObject({
    databaseUrl: "postgres://parley:a%40b@pooler:6432/parley",
    databaseDirectUrl: "postgres://parley:a%40b@db/parley",
  });
});

test.each([
  ["postgres://parley:hunter2@db/parley?password=hunter2&sslmode=require", "db:5432/parley"],
  ["postgres://parley:hunter2@localhost:1/parley?host=/run/pg", "/run/pg:1/parley"],
])("the user and password in %s are never shown", (address, place) => {
  expect(databasePlace(address)).toBe(place);
});

const BAD_VARIABLES: readonly [NodeJS.ProcessEnv, string][] = [
  [{ HTTP_PORT: "http" }, 'HTTP_PORT: expected a port from 1 to 65535, got "http"'],
  [{ HTTP_PORT: "0" }, 'HTTP_PORT: expected a port from 1 to 65535, got "0"'],
  [{ WORKER_PORT: "70000" }, 'WORKER_PORT: expected a port from 1 to 65535, got "70000"'],
  [
    { LIVEKIT_PORT: "65535" },
    'LIVEKIT_PORT: expected a port from 1 to 65534 (the next port is used as well), got "65535"',
  ],
  [{ MAX_SESSIONS: "-1" }, 'MAX_SESSIONS: expected a number from 1 to 10000, got "-1"'],
  [{ MAX_SESSIONS: "1e3" }, 'MAX_SESSIONS: expected a number from 1 to 10000, got "1e3"'],
  [{ LOG_LEVEL: "loud" }, 'LOG_LEVEL: expected one of trace, debug, info, warn, error, fatal, silent, got "loud"'],
  [
    { DATABASE_URL: "mysql://u:secret@h/d" },
    "DATABASE_URL: expected a postgres:// or postgresql:// address of one server, got a string of 20 characters",
  ],
  [
    { DATABASE_URL: "postgres://u:50%@h/d" },
    "DATABASE_URL: expected a percent-encoded user and password (a % is %25), or the password in PGPASSWORD, got a string of 20 characters",
  ],
  [
    { DATABASE_DIRECT_URL: "postgres://u:50%@h/d" },
    "DATABASE_DIRECT_URL: expected a percent-encoded user and password (a % is %25), or the password in PGPASSWORD, got a string of 20 characters",
  ],
  [
    { LIVEKIT_URL: "localhost" },
    "LIVEKIT_URL: expected a ws://, wss://, http:// or https:// address, without a user name, a password or a query, got a string of 9 characters",
  ],
  [
    { ANTHROPIC_BASE_URL: "localhost" },
    "ANTHROPIC_BASE_URL: expected an http:// or https:// address without a query, got a string of 9 characters",
  ],
  [
    { LIVEKIT_URL: "wss://key:secret@h" },
    "LIVEKIT_URL: expected a ws://, wss://, http:// or https:// address, without a user name, a password or a query, got a string of 18 characters",
  ],
  [
    { LIVEKIT_PUBLIC_URL: "wss://key:secret@h" },
    'LIVEKIT_PUBLIC_URL: expected a ws://, wss://, http:// or https:// address, without a user name, a password or a query, got "wss://h"',
  ],
  [
    { WEBHOOK_URL: "https://me:key@crm.example" },
    "WEBHOOK_URL: expected an http:// or https:// address, without a user name, got a string of 26 characters",
  ],
  [
    { WEBHOOK_SECRET: "a secret of mine" },
    "WEBHOOK_SECRET: expected whsec_ followed by 24 to 64 bytes in base64, got a string of 16 characters",
  ],
  [{ TOKEN_SECRET: "short" }, "TOKEN_SECRET: expected 16 characters or more, got a string of 5 characters"],
  [
    { HTTP_PORT: "a", LOG_LEVEL: "info", WORKER_PORT: "b" },
    'HTTP_PORT: expected a port from 1 to 65535, got "a"\nWORKER_PORT: expected a port from 1 to 65535, got "b"',
  ],
];

test.each(BAD_VARIABLES)("a bad variable stops the start: %j", async (env, message) => {
  await expect(loadConfig(env, folder)).rejects.toThrow(new AppError("invalid_config", message));
});

const BAD_FILES: readonly [string, string][] = [
  [`export default {};`, "instructions: expected a string or a function, got nothing"],
  [`export default { instructions: "x", maxSteps: "ten" };`, 'maxSteps: expected number, got "ten"'],
  [`export default { instructions: "x", maxSteps: 0 };`, "maxSteps: expected number to be >0, got 0"],
  [`export default { instructions: "x", model: { maxTokens: 1.5 } };`, "model.maxTokens: expected int, got 1.5"],
  [
    `export default { instructions: "x", model: { thinking: "much" } };`,
    'model.thinking: expected "adaptive" or {budgetTokens: 1024 or more}, got "much"',
  ],
  [`export default { instructions: "x", model: [] };`, "model: expected at least one model, got []"],
  [`export default { instructions: "x", model: "claude" };`, 'model: expected object, got "claude"'],
  [`export default { instructions: "x", model: { nam: "a" } };`, 'model.nam: unknown field. Did you mean "name"?'],
  [
    `export default { instructions: "x", model: [{}, { nam: "a" }] };`,
    'model.1.nam: unknown field. Did you mean "name"?',
  ],
  [
    `export default { instructions: "x", model: [{}, { key: "sk-ant-0123456789" }] };`,
    "model.1.key: expected the name of an environment variable, such as GATEWAY_KEY, got a string of 17 characters",
  ],
  [
    `export default { instructions: "x", model: [{}, { baseUrl: "https://me:secret@gw.example" }] };`,
    "model.1.baseUrl: expected an http:// or https:// address without a user name, a password or a query, got a string",
  ],
  [`export default { instructions: "x", onTurnEnd: "log" };`, 'onTurnEnd: expected a function, got "log"'],
  [
    `export default { instructions: "x", onNewMessage: "drop" };`,
    'onNewMessage: expected one of "queue"|"interrupt", got "drop"',
  ],
  [
    `export default { instructions: "x", budget: { session: {} } };`,
    "budget.session: expected tokens, money or both, got {}",
  ],
  [
    `export default { instructions: "x", budget: { session: { tokens: 0 } } };`,
    "budget.session.tokens: expected number to be >0, got 0",
  ],
  [
    `export default { instructions: "x", budget: { workerPerDay: { money: -1 } } };`,
    "budget.workerPerDay.money: expected number to be >0, got -1",
  ],
  [
    `export default { instructions: "x", budget: { identityPerDay: { tokens: NaN } } };`,
    "budget.identityPerDay.tokens: expected number, got null",
  ],
  [`export default { instructions: "x", maxStep: 3 };`, 'maxStep: unknown field. Did you mean "maxSteps"?'],
  [`export default { instructions: "x", toolSettings: [] };`, "toolSettings: expected record, got []"],
  [`export const config = {};`, "default export: expected object, got nothing"],
  [`throw new Error("typo");`, "cannot be loaded: typo"],
];

test.each(BAD_FILES)("a bad config file stops the start: %s", async (source, message) => {
  const error = await loadFile(source).catch((reason: unknown) => reason);

  expect(error).toBeInstanceOf(AppError);
  expect(String(error)).toContain(message);
  expect(String(error)).toMatch(/config-\d+\.ts: /);
});

test("a missing config file is reported", async () => {
  await expect(loadConfig({ PARLEY_CONFIG: "none.ts" }, folder)).rejects.toThrow(
    `PARLEY_CONFIG: expected a config file at ${join(folder, "none.ts")}, got none`,
  );
});

test("the worker alone lists everything that it lacks", async () => {
  const config = await loadConfig({ LIVEKIT_API_KEY: "key" }, folder);

  expect(missingSettings(config, true).map((line) => line.split(":")[0])).toEqual([
    "LIVEKIT_URL",
    "LIVEKIT_API_SECRET",
    "DATABASE_URL",
    "ANTHROPIC_API_KEY",
  ]);
  expect(missingSettings(config, true, true).join()).not.toContain("ANTHROPIC_API_KEY");
  expect(missingSettings(config, false)).toEqual([]);
});

test("a direct database address without the main address is refused", async () => {
  const config = await loadConfig({ DATABASE_DIRECT_URL: "postgres://parley@db/parley" }, folder);

  expect(missingSettings(config, false)).toEqual([
    "DATABASE_URL: DATABASE_DIRECT_URL is only a second address of the same database",
  ]);
});

test("a budget in money needs the model's price, even with the scripted model", async () => {
  const source = (prices: string) =>
    `export default { instructions: "x", budget: { session: { money: 1 } }, prices: ${prices} };`;
  const priced = '{ "claude-sonnet-5-5": { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } }';
  const config = await loadFile(source("{}"));

  expect(missingSettings(config, false)).toEqual([
    'prices: the price of "claude-sonnet-5-5" in the config file, because budget limits money',
  ]);
  expect(missingSettings(await loadFile(source(priced)), false)).toEqual([]);
});

test("a LiveKit server elsewhere needs its keys", async () => {
  const config = await loadConfig({ LIVEKIT_URL: "wss://example.org" }, folder);

  expect(missingSettings(config, false)).toHaveLength(2);
});

const CORES = availableParallelism();

test.each([
  [{ TTS: "none" }, 50, 50 * CORES],
  [{}, 50, 20 * CORES],
  [{ STT: "openai" }, 10, 5 * CORES],
  [{ STT: "embedded" }, 10, Math.min(3 * CORES, 12)],
  [{ STT: "openai", SESSIONS_PER_PROCESS: "20", MAX_SESSIONS: "40" }, 20, 40],
])("with %j a process serves %i sessions, and the worker %i", async (env, sessionsPerProcess, maxSessions) => {
  expect(await loadConfig(env, folder)).toMatchObject({ sessionsPerProcess, maxSessions });
});
