import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { forEachTest } from "../../support/lifetimes.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const folder = forEachTest(() => tempFolder());
afterEach(() => vi.unstubAllEnvs());
const CONFIG = `config: ${resolve("test/fixtures/testing/parley.config.ts")}\n`;

interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

function parley(...args: readonly string[]): Promise<Ended> {
  return new Promise((done) => {
    const command = [resolve("src/cli/parley.ts"), "test", ...args];
    // The cache contains a livekit-server that was built earlier.
    const env = { ...process.env, PARLEY_CACHE_DIR: resolve(".cache") };
    execFile(process.execPath, command, { cwd: folder.path, env }, (error, stdout, stderr) => {
      done({ status: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });
}

async function write(name: string, yaml: string): Promise<void> {
  await writeFile(join(folder.path, name), CONFIG + yaml);
}

const GREETING = "turns:\n  - user: Hi\n    model: [Hello.]\n";

test("all tests in a folder are run, and a failure is shown with its turn, also in the report", async () => {
  await write("a.talk.yaml", `name: greets\n${GREETING}`);
  await write("b.talk.yaml", `${GREETING}    expect: { say: <Bye> }\n`);

  const { status, stdout } = await parley("--repeat", "2", "--junit", "report.xml");

  expect(status).toBe(1);
  expect(stdout.replaceAll(/\d+ ms/g, "n ms")).toBe(
    [
      "passed  a.talk.yaml: greets (n ms)",
      "passed  a.talk.yaml: greets (run 2) (n ms)",
      ...["", " (run 2)"].flatMap((run) => [
        `FAILED  b.talk.yaml${run} (n ms)`,
        "        turn 1 of 1:",
        "          user:  Hi",
        "        - agent: <Bye>",
        "        + agent: Hello.",
        "          end:   completed",
      ]),
      "",
      "4 runs of 2 tests, 2 FAILED",
      "",
    ].join("\n"),
  );
  const report = await readFile(join(folder.path, "report.xml"), "utf8");
  expect(report).toContain('<testsuite name="parley" tests="4" failures="2"');
  expect(report).toContain('classname="a.talk.yaml" name="greets (run 2)"');
  expect(report).toContain('<failure message="turn 1 of 1: - agent: &lt;Bye&gt; + agent: Hello.">');
});

// The timer keeps the process alive, as LiveKit's native library does after a session in a room.
const PROGRAM = `
  import { describe, test } from "node:test";
  setInterval(() => {}, 1_000);
  test("adds", () => console.log("from the test"));
  describe("a suite", () => {
    test("compares", () => { throw new Error("Too far"); });
    test.skip("waits", () => {});
  });
`;

test("node:test tests are run and counted with the YAML tests; those for another runner are not", async () => {
  await write("a.talk.yaml", GREETING);
  await writeFile(join(folder.path, "b.test.ts"), PROGRAM);
  await writeFile(join(folder.path, "c.test.ts"), 'import "./gone.ts";\nimport { test } from "node:test";\ntest("t");');
  await writeFile(join(folder.path, "d.test.ts"), 'import { test } from "vitest";');

  const { status, stdout, stderr } = await parley("--junit", "report.xml");

  expect([status, stdout.replaceAll(/\d+ ms/g, "n ms")]).toEqual([
    1,
    [
      "passed  b.test.ts: adds (n ms)",
      "FAILED  b.test.ts: compares (n ms)",
      "        Error: Too far",
      `            at TestContext.<anonymous> (file://${join(folder.path, "b.test.ts")}:6:36)`,
      "FAILED  c.test.ts (n ms)",
      "        test failed",
      "passed  a.talk.yaml (n ms)",
      "",
      "4 runs of 4 tests, 2 FAILED",
      "",
    ].join("\n"),
  ]);
  expect(stderr).toMatch(/^from the test\n[^]*Cannot find module '.*gone\.ts'/u);
  expect(await readFile(join(folder.path, "report.xml"), "utf8")).toContain('classname="b.test.ts" name="compares"');
});

test("the report's summary shows the location of an error in an invalid file", async () => {
  await write("a.talk.yaml", "turns: [{ usr: Hi }]\n");

  await parley("--junit", "report.xml");

  expect(await readFile(join(folder.path, "report.xml"), "utf8")).toMatch(
    /message="a\.talk\.yaml: turns\.0\.usr: unknown field/,
  );
});

test("a folder without tests, a missing path and an unknown flag are command line errors", async () => {
  const ended = await Promise.all([parley(), parley("nowhere"), parley("--repeat", "0")]);

  expect(ended.map(({ status, stderr }) => [status, stderr.split("\n")[0]])).toEqual([
    [2, "parley test: No tests found in .: expected **/*.talk.{yaml,yml}, or **/*.test.{ts,mts,js,mjs} of node:test"],
    [2, "parley test: nowhere: no such file or folder"],
    [2, "parley test: --repeat: expected a number of runs, 1 or more"],
  ]);
});

test.each([
  ["--room", "in a room of a livekit-server of their own"],
  ["--voice", "in such a room, aloud"],
])("with %s, tests are run %s", { timeout: 60_000 }, async (flag) => {
  await write("a.talk.yaml", GREETING);

  const { status, stdout } = await parley(flag);

  expect([status, stdout.replaceAll(/\d+ ms/g, "n ms")]).toEqual([
    0,
    "passed  a.talk.yaml (n ms)\n\n1 runs of 1 tests, all passed\n",
  ]);
});

test("each session opens what its tools need and closes it at its end; a session that cannot do so fails", async () => {
  const source = (file: string) => JSON.stringify(resolve("src", file));
  const pool = `
    import { appendFileSync } from "node:fs";
    import { defineTool } from ${source("tool/define-tool.ts")};
    import { registerWorkerHooks } from ${source("worker/hooks/worker-hooks.ts")};
    let isOpen = false;
    const note = (what: string) => { isOpen = what === "start"; appendFileSync("events", what + "\\n"); };
    registerWorkerHooks(import.meta, {
      onWorkerStart: () => { if (process.env["POOL"] === "down") throw new Error("no database"); note("start"); },
      onWorkerStop: () => note("stop"),
    });
    export default defineTool({ description: "D.", input: { type: "object" }, run: () => ({ isOpen }) });`;
  await mkdir(join(folder.path, "tools"));
  await writeFile(join(folder.path, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder.path, "tools/ask.ts"), pool);
  await writeFile(join(folder.path, "parley.config.ts"), 'export default { instructions: "Help." };');
  const yaml = `
    config: parley.config.ts
    turns:
      - user: Ask
        model: [{ use: { ask: {} } }, Done.]
        expect: { calls: [{ name: ask, result: { isOpen: true } }] }`;
  await writeFile(join(folder.path, "a.talk.yaml"), yaml);

  const open = await parley("--repeat", "2");
  vi.stubEnv("POOL", "down");
  const down = await parley();

  expect([open.status, open.stdout]).toEqual([0, expect.stringContaining("2 runs of 1 tests, all passed")]);
  expect(await readFile(join(folder.path, "events"), "utf8")).toBe("start\nstop\nstart\nstop\n");
  expect(down.status).toBe(1);
  expect(down.stdout).toContain("tools/ask.ts: onWorkerStart failed: no database (at tools/ask.ts:8:");
});
