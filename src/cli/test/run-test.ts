import { glob, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadRtcNode } from "../../livekit/load-rtc-node.ts";
import type { TestRun } from "../../testing/scenario/run-scenario.ts";
import { toJunit } from "../../testing/scenario/to-junit.ts";
import { runCommandLine } from "../run-command-line.ts";
import { UsageError } from "../../worker/settings/command-line.ts";
import { usesNodeTest, runNodeTests } from "./node-tests.ts";
import { parseTestOptions, TEST_USAGE, type TestOptions } from "./options.ts";

const SCENARIOS = "**/*.talk.{yaml,yml}";
const PROGRAMS = "**/*.test.{ts,mts,js,mjs}";
const IS_PROGRAM = /\.[mc]?[jt]s$/u;

/** Runs `parley test`: runs tests in YAML and TypeScript, prints the results, and exits the process. */
export async function runTest(args: readonly string[]): Promise<void> {
  await runCommandLine("parley test", TEST_USAGE, async () => {
    const options = parseTestOptions(args);
    if (!options) return undefined;
    const runs: TestRun[] = [];
    for await (const run of runAll(await findFiles(options.paths), options)) {
      runs.push(run);
      console.log(showRun(run));
    }
    const tests = new Set(runs.map(({ file, name }) => `${file}: ${name}`)).size;
    const failures = runs.filter(({ failure }) => failure !== undefined).length;
    console.log(`\n${runs.length} runs of ${tests} tests, ${failures === 0 ? "all passed" : `${failures} FAILED`}`);
    if (options.junit !== undefined) await writeFile(options.junit, toJunit(runs));
    return failures === 0 ? 0 : 1;
  });
}

async function* runAll(files: readonly string[], { repeat, isInRoom, hasVoice }: TestOptions): AsyncGenerator<TestRun> {
  const programs = files.filter((file) => IS_PROGRAM.test(file));
  const scenarios = files.filter((file) => !IS_PROGRAM.test(file));
  if (programs.length > 0) yield* runNodeTests(programs, repeat);
  if (scenarios.length === 0) return;
  // Load LiveKit's library before the first test, so that the library's log output does not appear between the results.
  await loadRtcNode();
  const { runScenario } = await import("../../testing/scenario/run-scenario.ts");
  const { startRoomServers } = await import("../../testing/stage/room-servers.ts");
  await using servers = isInRoom ? await startRoomServers() : undefined;
  for (const file of scenarios) yield* runScenario(file, { repeat, room: servers, voice: hasVoice });
}

function showRun({ file, name, run, ms, failure }: TestRun): string {
  const title = `${name === file ? file : `${file}: ${name}`}${run === 1 ? "" : ` (run ${run})`}`;
  if (failure === undefined) return `passed  ${title} (${ms} ms)`;
  return `FAILED  ${title} (${ms} ms)\n${failure.replaceAll(/^/gm, "        ")}`;
}

/** @throws {UsageError} for a path that does not exist, or when no test is found */
async function findFiles(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      const kind = await stat(path).catch(() => undefined);
      if (!kind) throw new UsageError(`${path}: no such file or folder`);
      if (!kind.isDirectory()) return [path];
      return await Array.fromAsync(testsBelow(path));
    }),
  );
  const files = [...new Set(found.flat())];
  if (files.length > 0) return files;
  throw new UsageError(`No tests found in ${paths.join(", ")}: expected ${SCENARIOS}, or ${PROGRAMS} of node:test`);
}

/** Yields the tests in a folder. Reads one file at a time, because a folder may have thousands of files. */
async function* testsBelow(folder: string): AsyncGenerator<string> {
  const exclude = (name: string) => name === "node_modules";
  const names = await Array.fromAsync(glob([SCENARIOS, PROGRAMS], { cwd: folder, exclude }));
  for (const file of names.map((name) => join(folder, name)).toSorted())
    if (!IS_PROGRAM.test(file) || (await usesNodeTest(file))) yield file;
}
