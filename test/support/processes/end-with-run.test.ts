import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { processStart } from "../../../src/worker/process/running-processes.ts";
import { processesIn } from "../../worker/support/run-main.ts";
import { tempFolder } from "../temp-folder.ts";

/**
 * A test that starts a program in its own process group, as servers do, and then waits forever. It writes the process
 * ids of the run and of the program to noted.json.
 */
const WAITING_TEST = `
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";

test("waits", { timeout: 120_000 }, async () => {
  const { pid } = spawn("sleep", ["300"], { detached: true, stdio: "ignore" });
  writeFileSync("noted.json", JSON.stringify({ run: process.ppid, program: pid }));
  await new Promise(() => {});
});
`;

test(
  "a supervisor's SIGTERM to an npm script that runs npm test ends the run, its servers and what its tests have started",
  { timeout: 90_000 },
  async () => {
    await using folder = await tempFolder();
    const vitest = resolve("node_modules/vitest/vitest.mjs");
    const scripts = { test: `"${process.execPath}" "${vitest}" run`, check: "npm test && echo passed" };
    const config = {
      test: { globals: true, include: ["*.test.js"], globalSetup: [resolve("test/support/servers/global-setup.ts")] },
    };
    await writeFile(join(folder.path, "package.json"), JSON.stringify({ type: "module", scripts }));
    await writeFile(join(folder.path, "vitest.config.js"), `export default ${JSON.stringify(config)};`);
    await writeFile(join(folder.path, "waiting.test.js"), WAITING_TEST);
    const npm = spawn("npm", ["run", "check"], { cwd: folder.path, stdio: "ignore" });
    const pids = await vi.waitFor(
      async () =>
        JSON.parse(await readFile(join(folder.path, "noted.json"), "utf8")) as { run: number; program: number },
      { timeout: 60_000, interval: 100 },
    );
    const left = () => [
      ...[pids.run, pids.program].filter((pid) => processStart(pid) !== undefined),
      ...processesIn(`parley-test-runs-${process.getuid?.()}/${pids.run}`),
    ];
    expect(left().length).toBeGreaterThan(3);

    onTestFinished(() => {
      for (const pid of [pids.program, pids.run].filter((each) => processStart(each) !== undefined)) process.kill(pid);
    });
    npm.kill("SIGTERM");
    await once(npm, "exit");

    await expect.poll(left, { timeout: 20_000, interval: 100 }).toEqual([]);
  },
);

test("a SIGTERM to a program that runs tests ends the processes that its own npm has started", async () => {
  await using folder = await tempFolder();
  const module = JSON.stringify(resolve("test/support/processes/end-with-run.ts"));
  const program = `
    import { spawn } from "node:child_process";
    import { endWithRun } from ${module};
    endWithRun();
    spawn("npm", ["run", "sleep"], { stdio: "ignore" });
  `;
  const sleep = "node -e 'console.error(process.pid); setTimeout(() => {}, 300_000)' 2> pid";
  await writeFile(join(folder.path, "package.json"), JSON.stringify({ type: "module", scripts: { sleep } }));
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], { cwd: folder.path });
  const pid = await vi.waitUntil(async () => Number(await readFile(join(folder.path, "pid"), "utf8").catch(() => "")), {
    timeout: 10_000,
    interval: 100,
  });
  expect(processStart(pid)).toBeDefined();

  child.kill("SIGTERM");
  const [code] = (await once(child, "exit")) as [number];

  expect([code, processStart(pid)]).toEqual([143, undefined]);
});
