import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, inject, test } from "vitest";
import { nodeProblem } from "../../../src/cli/doctor/node-version.ts";
import { startModelServer } from "../../../src/model-server/model-server.ts";
import { forEachTest } from "../../support/lifetimes.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { freePortVariables } from "../../worker/support/run-main.ts";

const CLI = join(import.meta.dirname, "../../../src/cli/parley.ts");
const { NODE_COMPILE_CACHE } = process.env;
const agent = forEachTest(tempFolder);

async function doctor(env: NodeJS.ProcessEnv, ...flags: readonly string[]): Promise<{ code: number; stdout: string }> {
  const options = { cwd: agent.path, env: { NODE_COMPILE_CACHE, ...(await freePortVariables()), ...env } };
  return promisify(execFile)(process.execPath, [CLI, "doctor", ...flags], options).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
  );
}

async function writeAgent(config: object = {}): Promise<void> {
  const text = `export default ${JSON.stringify({ instructions: "Help.", ...config })};\n`;
  await writeFile(join(agent.path, "parley.config.ts"), text);
  await mkdir(join(agent.path, "tools"));
}

test("in an empty folder it reports the missing config file, and the command that creates an agent", async () => {
  const { code, stdout } = await doctor({});

  expect(stdout).toMatch(
    /^MISSING {2}PARLEY_CONFIG: expected a config file at .*, got none\n {9}→ .*npm run create -- /m,
  );
  expect(code).toBe(1);
});

test("without livekit-server, Docker, Podman, Go and internet it lists four ways to get LiveKit", async () => {
  await writeAgent();

  const { code, stdout } = await doctor({ PATH: "/nowhere", TTS: "none", https_proxy: "http://127.0.0.1:9" });

  expect(stdout).toMatch(/^MISSING {2}LiveKit: no livekit-server, and no way to get one\n {9}→ one of\n {9}1\. set/m);
  expect(stdout).toMatch(/^ok {7}PostgreSQL: the embedded one \(18\..*\) will be started$/m);
  expect(stdout).toMatch(/\nMissing: 1\n$/);
  expect(code).toBe(1);
});

test("services from the environment that do not answer are reported as missing", async () => {
  await writeAgent();
  const LIVEKIT_URL = "ws://127.0.0.1:9";

  const { stdout } = await doctor({
    LIVEKIT_URL,
    LIVEKIT_API_KEY: "key",
    LIVEKIT_API_SECRET: "secret",
    DATABASE_URL: "postgres://parley@127.0.0.1:9/parley",
    TTS: "none",
  });

  expect(stdout).toMatch(/^MISSING {2}LiveKit: LIVEKIT_URL does not answer: /m);
  expect(stdout).toMatch(/^MISSING {2}PostgreSQL: DATABASE_URL does not answer: /m);
});

test("a deny rule that matches no tool is reported as missing if it is misspelled, and is fine for a tool that is off", async () => {
  const rules = ["roll_dic", "web_search"].map((pattern) => ({ type: "tool", pattern, action: "deny" }));
  await writeAgent({ permission: { rules } });
  const tool = (more: string) =>
    `import { defineTool } from "${join(import.meta.dirname, "../../../src/index.ts")}";
     import { z } from "${import.meta.resolve("zod")}";
     export default defineTool({ description: "d", input: z.object({}), run: () => {}, ${more} });`;
  await writeFile(join(agent.path, "tools/roll-dice.ts"), tool(""));
  await writeFile(join(agent.path, "tools/web-search.ts"), tool("settings: z.object({}), needsSettings: true"));

  const { stdout } = await doctor({ TTS: "none" });

  expect(stdout).toMatch(/^MISSING {2}parley\.config\.ts: permission\.rules\.0: .* Did you mean "roll_dice"\?/m);
  expect(stdout).not.toContain("web_search");
});

test("MCP servers that do not start or answer are reported as missing, with the reason and their output", async () => {
  const failing = { command: process.execPath, args: ["-e", 'console.error("KEY is not set"); process.exit(1)'] };
  await writeAgent({
    mcpServers: { gone: { command: "no-such-program" }, failing, away: { url: "http://127.0.0.1:9" } },
  });

  const { stdout } = await doctor({ PATH: "/nowhere", TTS: "none" });

  expect(stdout).toMatch(/^MISSING {2}MCP server gone: ENOENT: no-such-program$/m);
  expect(stdout).toMatch(/^MISSING {2}MCP server failing: connection closed\. On stderr:\n {9}KEY is not set$/m);
  expect(stdout).toMatch(/^MISSING {2}MCP server away: (?!TypeError)/m);
});

test("keys that LiveKit and the model refuse are reported as missing, and valid ones are not", async () => {
  await writeAgent({ model: { name: "claude-test" } });
  await using model = await startModelServer({ apiKey: "right" });
  const env = { TTS: "none", ANTHROPIC_BASE_URL: model.url, LIVEKIT_URL: inject("livekitUrl") };
  const [LIVEKIT_API_KEY, LIVEKIT_API_SECRET] = [inject("livekitApiKey"), inject("livekitApiSecret")];

  const wrong = await doctor({ ...env, ANTHROPIC_API_KEY: "wrong", LIVEKIT_API_KEY, LIVEKIT_API_SECRET: "wrong" });
  const right = await doctor({ ...env, ANTHROPIC_API_KEY: "right", LIVEKIT_API_KEY, LIVEKIT_API_SECRET });

  expect(wrong.stdout).toMatch(/^MISSING {2}LiveKit: LIVEKIT_URL rejects the key\n {9}→ correct LIVEKIT_API_KEY/m);
  expect(wrong.stdout).not.toContain("eyJ");
  expect(wrong.stdout).toMatch(/^MISSING {2}model: http:.* rejects the key \(401\)\n {9}→ set ANTHROPIC_API_KEY/m);
  expect(right.stdout).toContain("ok       LiveKit: LIVEKIT_URL answers\n");
  expect(right.stdout).toContain("ok       model: claude-test, and its key is accepted\n");
});

test("a model that does not answer is reported as missing", async () => {
  await writeAgent();

  const { stdout } = await doctor({ TTS: "none", ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: "http://127.0.0.1:2" });

  expect(stdout).toMatch(
    /^MISSING {2}model: http:\/\/127\.0\.0\.1:2 does not answer: .*ECONNREFUSED.*\n {9}→ go online/m,
  );
});

test("the model is called as in a turn, and no user or password from an address is shown", async () => {
  await writeAgent();
  await using model = await startModelServer({ apiKey: "right" });
  const withUser = Object.assign(new URL(model.url), { username: "me", password: "hunter2" }).href;
  const [gone, proxied] = [
    "http://me:hunter2@127.0.0.1:2",
    "postgres://me:hunter2@127.0.0.1:1/parley?password=hunter2",
  ];

  const there = await doctor({ TTS: "none", ANTHROPIC_API_KEY: "right", ANTHROPIC_BASE_URL: withUser });
  const away = await doctor({
    TTS: "none",
    ANTHROPIC_API_KEY: "right",
    ANTHROPIC_BASE_URL: gone,
    DATABASE_URL: proxied,
  });

  expect(there.stdout).toMatch(/^ok {7}model: /m);
  expect(away.stdout).toMatch(/^MISSING {2}model: http:\/\/127\.0\.0\.1:2 does not answer/m);
  expect(there.stdout + away.stdout).not.toMatch(/hunter2|me:/u);
});

test("with --worker every variable that production needs is listed", async () => {
  await writeAgent();

  const { code, stdout } = await doctor({ TTS: "none" }, "--worker");

  for (const name of ["LIVEKIT_URL", "LIVEKIT_API_KEY", "LIVEKIT_API_SECRET", "DATABASE_URL", "ANTHROPIC_API_KEY"])
    expect(stdout).toContain(`MISSING  not set: ${name}: `);
  expect(code).toBe(1);
});

test("without LiveKit's native library it says so, and how to install it", async () => {
  await writeAgent();

  const { code, stdout } = await doctor({ NAPI_RS_NATIVE_LIBRARY_PATH: "/nowhere.node" });

  expect(stdout).toMatch(/^MISSING {2}LiveKit's native library: Cannot find native binding.*\n {9}→ reinstall /m);
  expect([code, stdout.split("\n")]).toEqual([1, expect.toSatisfy((lines: string[]) => lines.length === 6)]);
});

test("an unreadable secret file is reported as missing", async () => {
  await writeAgent();

  const { code, stdout } = await doctor({ LIVEKIT_API_SECRET_FILE: "/nowhere/secret" });

  expect(stdout).toMatch(/^MISSING {2}LIVEKIT_API_SECRET_FILE: cannot read \/nowhere\/secret \(ENOENT\)$/m);
  expect(code).toBe(1);
});

test("a wrong setting in the config file is reported in one line", async () => {
  await writeAgent({ maxSteps: 0 });

  const { stdout } = await doctor({});

  expect(stdout).toMatch(/^MISSING {2}.*parley\.config\.ts: maxSteps: expected number to be >0, got 0\n {9}→ correct/m);
});

test("an unusable agent is reported", async () => {
  await writeAgent();
  await mkdir(join(agent.path, "agents"));
  await writeFile(join(agent.path, "agents/billing.ts"), "export default 1;\n");

  const { code, stdout } = await doctor({ TTS: "none" });

  expect(stdout).toMatch(/^MISSING {2}.*agents\/billing\.ts: the default export is not an agent.*\n {9}→ correct/m);
  expect(code).toBe(1);
});

test("a missing price for an agent's model is reported when the budget is in money", async () => {
  const price = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };
  await writeAgent({ budget: { session: { money: 1 } }, prices: { "claude-sonnet-5-5": price } });
  await mkdir(join(agent.path, "agents"));
  const define = join(import.meta.dirname, "../../../src/agent/define-agent.ts");
  await writeFile(
    join(agent.path, "agents/billing.ts"),
    `import { defineAgent } from "${define}";
    export default defineAgent({ instructions: "Bill.", model: { name: "claude-opus-4-8" } });`,
  );

  const { stdout } = await doctor({ TTS: "none" });

  expect(stdout).toMatch(/^MISSING {2}prices: the price of "claude-opus-4-8" in the config file/m);
});

test("an unusable tool and an unknown provider are reported", async () => {
  await writeAgent();
  await writeFile(join(agent.path, "tools/broken.ts"), "export default 1;\n");

  const { stdout } = await doctor({ TTS: "cartesia" });

  expect(stdout).toMatch(/^MISSING {2}.*tools\/broken\.ts: the default export is not a tool \(use defineTool\)$/m);
  expect(stdout).toContain("MISSING  not set: CARTESIA_API_KEY: a key for TTS=cartesia");
});

test.each([
  ["20.20.2", true],
  ["22.17.0", true],
  ["22.18.0", false],
  ["24.0.0", false],
])("Node %s is too old: %s", (version, isTooOld) => {
  expect(nodeProblem(version) !== undefined).toBe(isTooOld);
});
