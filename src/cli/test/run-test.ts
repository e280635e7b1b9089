import { glob, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadRtcNode } from "../../livekit/load-rtc-node.ts";
import type * as Testing from "../../testing/scenario/run-scenario.ts";
import { toJunit } from "../../testing/scenario/to-junit.ts";
import { runCommandLine } from "../run-command-line.ts";
import { UsageError } from "../talk/options.ts";
import { parseTestOptions, TEST_USAGE, type TestOptions } from "./options.ts";

const NAMES = "**/*.talk.{yaml,yml}";

/** `parley test`: runs tests in YAML, prints how they went, and ends the process. */
export async function runTest(args: readonly string[]): Promise<void> {
  await runCommandLine("parley test", TEST_USAGE, async () => {
    const options = parseTestOptions(args);
    if (!options) return undefined;
    const files = await findFiles(options.paths);
    const runs = await runAll(files, options);
    const failures = runs.filter(({ failure }) => failure !== undefined).length;
    console.log(
      `\n${runs.length} runs of ${files.length} tests, ${failures === 0 ? "all passed" : `${failures} FAILED`}`,
    );
    if (options.junit !== undefined) await writeFile(options.junit, toJunit(runs));
    return failures === 0 ? 0 : 1;
  });
}

async function runAll(
  files: readonly string[],
  { repeat, isInRoom, hasVoice }: TestOptions,
): Promise<Testing.ScenarioRun[]> {
  // First of all: what it logs must not come between the results.
  await loadRtcNode();
  const { runScenario } = await import("../../testing/scenario/run-scenario.ts");
  const { startRoomServers } = await import("../../testing/stage/room-servers.ts");
  await using servers = isInRoom ? await startRoomServers() : undefined;
  const runs: Testing.ScenarioRun[] = [];
  for (const file of files) {
    for await (const run of runScenario(file, { repeat, room: servers, voice: hasVoice })) {
      runs.push(run);
      console.log(showRun(run));
    }
  }
  return runs;
}

function showRun({ file, name, run, ms, failure }: Testing.ScenarioRun): string {
  const title = `${name === file ? file : `${file}: ${name}`}${run === 1 ? "" : ` (run ${run})`}`;
  if (failure === undefined) return `passed  ${title} (${ms} ms)`;
  return `FAILED  ${title} (${ms} ms)\n${failure.replaceAll(/^/gm, "        ")}`;
}

/** @throws {UsageError} for a path that is not there, and when no test is found */
async function findFiles(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map(async (path) => {
      const kind = await stat(path).catch(() => undefined);
      if (!kind) throw new UsageError(`${path}: expected a file or a folder, there is none`);
      if (!kind.isDirectory()) return [path];
      const exclude = (name: string) => name === "node_modules";
      return (await Array.fromAsync(glob(NAMES, { cwd: path, exclude }))).map((file) => join(path, file)).toSorted();
    }),
  );
  const files = [...new Set(found.flat())];
  if (files.length === 0) throw new UsageError(`No test was found: expected ${NAMES} in ${paths.join(", ")}`);
  return files;
}
