import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { once } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PermissionService } from "../../src/http/rpc/generated/opencode/tool_pb.ts";
import { connect } from "../../src/store/database/pool.ts";
import { processStart } from "../../src/worker/process/running-processes.ts";
import { databaseFolder } from "../support/servers/database-folder.ts";
import { freePortVariables, processesIn, runMain, type RunningMain } from "./support/run-main.ts";

// These tests start whole programs, which takes time on two busy cores.
vi.setConfig({ testTimeout: 60_000 });

let dataDir: string;
let env: NodeJS.ProcessEnv;
const running: RunningMain[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(databaseFolder(), "parley-main-"));
  env = { ...(await freePortVariables()), PARLEY_DATA_DIR: dataDir };
});
afterEach(async () => {
  for (const main of running.splice(0)) {
    main.kill("SIGTERM");
    await main.exited;
  }
  await rm(dataDir, { recursive: true, force: true });
});

function start(...args: readonly string[]): RunningMain {
  const main = runMain(env, ...args);
  running.push(main);
  return main;
}

test("an unusable tool file stops the start, and is reported", async () => {
  const tools = join(dataDir, "tools");
  await mkdir(tools);
  await writeFile(join(tools, "broken.ts"), "export default 1;\n");
  const config = join(dataDir, "parley.config.ts");
  await writeFile(config, `export default { instructions: "Help.", toolsFolder: ${JSON.stringify(tools)} };\n`);
  env = { ...env, PARLEY_CONFIG: config };

  const { code, stdout, stderr } = await start().ended;

  expect(code).toBe(1);
  expect(stdout).toBe("");
  expect(stderr).toContain(`${join(tools, "broken.ts")}: the default export is not a tool (use defineTool)`);
});

test("a line typed while a call waits for permission answers the request", async () => {
  const config = join(dataDir, "parley.config.ts");
  const permission = { rules: [{ type: "tool", pattern: "calculator", action: "ask" }] };
  await writeFile(config, `export default ${JSON.stringify({ instructions: "Help.", permission })};\n`);
  env = { ...env, PARLEY_CONFIG: config };
  const { httpUrl } = await start().ready;
  const talk = spawn(process.execPath, ["src/cli/parley.ts", "talk", "--http", String(httpUrl)], { stdio: "pipe" });
  let output = "";
  talk.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));

  talk.stdin.end("what is 2 * 3?\nmaybe\nyes\nwhat is 4 * 5?\nn\n");
  const [code] = (await once(talk, "exit")) as [number];

  expect(output).toContain('? Use calculator {"expression":"2 * 3"}: [y]es, [a]lways or [n]o');
  expect(output).toContain("2 * 3 is 6.");
  expect(output).toContain("the participant rejected it");
  expect(output).not.toContain("4 * 5 is 20");
  expect(code).toBe(0);
});

test("lines typed while a form is open fill in its fields, one after another", async () => {
  const { httpUrl } = await start().ready;
  const talk = spawn(process.execPath, ["src/cli/parley.ts", "talk", "--http", String(httpUrl)], { stdio: "pipe" });
  let output = "";
  talk.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const properties = { cups: { type: "integer" }, drink: { enum: ["Tea", "Coffee"] } };
  const form = { message: "What do you drink?", requestedSchema: { properties, required: ["cups", "drink"] } };

  talk.stdin.end(`use ask_user ${JSON.stringify(form)}\nmany\n3\n2\n`);
  const [code] = (await once(talk, "exit")) as [number];

  expect(output).toContain("? What do you drink?  [/no refuses]");
  expect(output).toContain("? cups: expected a whole number");
  expect(output).toContain("? drink (1 Tea, 2 Coffee):");
  expect(output).toContain('{"action":"accept","content":{"cups":3,"drink":"Coffee"}}');
  expect(code).toBe(0);
});

test("it starts everything, prints that in one line, and Ctrl-C leaves no process", async () => {
  const main = start();
  const ready = await main.ready;
  const health = await fetch(`${ready["httpUrl"]}/health`);
  const readiness = await fetch(`${ready["httpUrl"]}/ready`);

  const stoppedAt = performance.now();
  main.kill("SIGINT");
  const { code, stdout, stderr } = await main.ended;

  expect(ready).toMatchObject({
    event: "ready",
    livekitUrl: `ws://127.0.0.1:${env["LIVEKIT_PORT"]}`,
    model: "scripted",
  });
  expect(Object.keys(ready)).toEqual(["event", "livekitUrl", "httpUrl", "grpcUrl", "databaseUrl", "model"]);
  expect(new URL(ready["databaseUrl"] ?? "").password).toBe("");
  expect([health.status, readiness.status]).toEqual([200, 200]);
  expect(await readiness.json()).toEqual({
    status: "ready",
    livekit: "ok",
    database: "ok",
    migrations: "ok",
    model: "ok",
  });
  expect(code).toBe(0);
  expect(stdout.trim().split("\n")).toHaveLength(1);
  expect(stderr.match(/SCRIPTED MODEL/g)).toHaveLength(1);
  expect(performance.now() - stoppedAt).toBeLessThan(10_000);
  expect(processesIn(dataDir)).toEqual([]);
});

test("with GRPC_PORT it serves gRPC on that port, and says so", async () => {
  const { grpcUrl = "" } = await start().ready;
  const transport = createGrpcTransport({ baseUrl: grpcUrl });

  expect(grpcUrl).toBe(`http://127.0.0.1:${env["GRPC_PORT"]}`);

  const answer = createClient(PermissionService, transport).respondToPermission({ permissionId: "none" });

  await expect(answer).rejects.toMatchObject({ code: Code.Unauthenticated });
});

test("after kill -9 the next start ends the leftover processes, and has the data", async () => {
  const first = start();
  await runQuery(await first.databaseUrl, "create table kept as select 42 as answer");
  first.kill("SIGKILL");
  await first.exited;
  const orphans = processesIn(dataDir).length;

  const second = start();
  await second.ready;

  expect(orphans).toBeGreaterThan(0);
  expect(await runQuery(await second.databaseUrl, "select answer from kept")).toEqual([{ answer: 42 }]);
  expect(processesIn(dataDir).filter((command) => command.includes("livekit-server"))).toHaveLength(1);
});

test("a lost server stops the worker with a message", async () => {
  const main = start();
  await main.ready;
  const pid = Number((await readPid("livekit-server.pid")).split(" ")[0]);

  process.kill(pid, "SIGKILL");
  const { code, stderr } = await main.ended;

  expect(code).toBe(1);
  expect(stderr).toContain("livekit-server exited unexpectedly");
});

test("Ctrl-C during startup leaves no process either", async () => {
  const main = start();
  await vi.waitUntil(() => processesIn(dataDir).length > 0, { timeout: 10_000 });

  main.kill("SIGINT");
  const { code } = await main.ended;

  expect(code).toBe(0);
  await vi.waitUntil(() => processesIn(dataDir).length === 0, { timeout: 5_000 });
});

test("a port in use is reported with its variable", async () => {
  const blocker = createServer().listen(Number(env["HTTP_PORT"]), "127.0.0.1");
  await once(blocker, "listening");

  const { code, stderr, stdout } = await start().ended;
  await new Promise((resolve) => blocker.close(resolve));

  expect(stderr).toBe(
    `parley: HTTP_PORT: expected a free port, got ${env["HTTP_PORT"]}, which is in use on 127.0.0.1\n`,
  );
  expect([code, stdout]).toEqual([1, ""]);
});

test("a second copy with the same data folder is refused and harms nothing", async () => {
  const first = start();
  await first.ready;

  const { code, stderr } = await runMain({ ...env, ...(await freePortVariables()) }).ended;

  expect(code).toBe(1);
  expect(stderr).toContain(`PARLEY_DATA_DIR: ${dataDir} is in use by another Parley`);
  expect(processStart(first.pid)).toBeDefined();
});

test("the worker alone reports what it lacks in one message, and starts nothing", async () => {
  const { code, stderr } = await start("--worker-only").ended;

  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^parley: Required but not set:\nLIVEKIT_URL: .*\nLIVEKIT_API_KEY: .*\nLIVEKIT_API_SECRET: .*\nDATABASE_URL: .*\nANTHROPIC_API_KEY: .*\n$/,
  );

  const scripted = await start("--worker-only", "--scripted-model").ended;
  expect(scripted.stderr).toMatch(/\nDATABASE_URL: .*\n$/);
});

test("a bad value stops the start with one message that contains no secret", async () => {
  env = { ...env, DATABASE_URL: "hunter2", MAX_SESSIONS: "many" };

  const { code, stderr } = await start().ended;

  expect(code).toBe(1);
  expect(stderr).toBe(
    'parley: DATABASE_URL: expected a postgres:// or postgresql:// address of one server, got a string of 7 characters\nMAX_SESSIONS: expected a number from 1 to 10000, got "many"\n',
  );
});

async function runQuery(url: string, query: string): Promise<unknown> {
  const sql = connect(url, { maxConnections: 1 });
  const rows = await sql.unsafe(query);
  await sql.end({ timeout: 1 });
  return Array.from(rows);
}

async function readPid(file: string): Promise<string> {
  return readFile(join(dataDir, file), "utf8");
}
