import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { OWN_VERSION } from "../../src/worker/own-package.ts";
import { forEachTest } from "../support/lifetimes.ts";
import { tempFolder } from "../support/temp-folder.ts";

// Each test starts a program, which takes time on two busy cores.
vi.setConfig({ testTimeout: 30_000 });

const CLI = join(import.meta.dirname, "../../src/cli/parley.ts");
const folder = forEachTest(tempFolder);

/** The exit code of `parley` in an empty folder, and the first line it prints. */
function parley(...args: readonly string[]): Promise<[code: unknown, line: string | undefined]> {
  return parleyOn(process.env["PATH"], args);
}

function parleyOn(
  PATH: string | undefined,
  args: readonly string[],
): Promise<[code: unknown, line: string | undefined]> {
  const { NODE_COMPILE_CACHE } = process.env;
  const options = { cwd: folder.path, env: { PATH, NODE_COMPILE_CACHE } };
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, ...args], options, (error, stdout, stderr) =>
      resolve([error?.code ?? 0, `${stderr}${stdout}`.split("\n")[0]]),
    );
  });
}

test.each([
  [["tlk"], 'parley: "tlk" is not a command. Did you mean "talk"?'],
  [["--hepl"], 'parley: "--hepl" is not a command. Did you mean "--help"?'],
  [["export", "--verson"], 'parley export: --verson is not an option. Did you mean "--version"?'],
  [["start", "--port", "5"], "parley: --port is not an option."],
  [["worker", "--migrat"], 'parley: --migrat is not an option. Did you mean "--migrate"?'],
  [["dev", "--watch"], "parley dev: --watch is not an option."],
  [["talk", "--rom", "a"], 'talk: --rom is not an option. Did you mean "--room"?'],
  [["talk", "--room", "a", "--room", "b"], "talk: --room is given twice"],
  [["decode", "file.txt"], expect.stringMatching(/parley decode: Unexpected argument 'file\.txt'/)],
  [["start", "foo"], expect.stringMatching(/parley: Unexpected argument 'foo'/)],
])("%j is refused", async (args, line) => {
  expect(await parley(...args)).toEqual([2, line]);
});

test.each([
  [["start", "--help"], "Usage: npm run parley -- start [options]"],
  [["worker", "--help"], "Usage: npm run parley -- worker [options]"],
  [["dev", "--help"], "Usage: npm run parley -- dev [options]"],
  [["encode", "--help"], expect.stringMatching(/^Usage: .* decode/)],
  [["--version"], OWN_VERSION],
  [["start", "-h"], "Usage: npm run parley -- start [options]"],
  [["talk", "-h"], "Usage: npm run talk -- [options]"],
  [["start", "--version"], OWN_VERSION],
  [["dev", "--version"], OWN_VERSION],
  [["worker", "--migrate", "--version"], OWN_VERSION],
  [["talk", "--version"], OWN_VERSION],
  [["init", "--version"], OWN_VERSION],
])("%j prints its answer and starts nothing", async (args, line) => {
  expect(await parley(...args)).toEqual([0, line]);
});

test("talk --mic without a program for sound says which ones it needs", async () => {
  expect(await parleyOn("/nowhere", ["talk", "--mic"])).toEqual([
    1,
    "talk: --mic: no program here records and plays sound. It needs parec and pacat, or arecord and aplay, or rec and play: install pulseaudio-utils, alsa-utils or sox",
  ]);
});

test("talk --mic uses the first programs that are there, and then looks for a worker", async () => {
  for (const name of ["arecord", "aplay"]) await writeFile(join(folder.path, name), "", { mode: 0o755 });

  expect(await parleyOn(folder.path, ["talk", "--mic", "--http", "http://127.0.0.1:1"])).toEqual([
    1,
    expect.stringContaining("Parley does not answer at http://127.0.0.1:1."),
  ]);
});
