import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { globSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp-folder.ts";

const page = await readFile("docs/testing.md", "utf8");

interface Ended {
  readonly status: number;
  readonly output: string;
}

function run(cwd: string, ...command: readonly string[]): Promise<Ended> {
  return new Promise((done) => {
    execFile(process.execPath, command, { cwd }, (error, stdout, stderr) => {
      done({ status: typeof error?.code === "number" ? error.code : 0, output: stdout + stderr });
    });
  });
}

/** Copies the agent with its imports rewritten, so that its files find the repository's sources. */
async function copyAgent(folder: string): Promise<void> {
  const from = "test/fixtures/testing";
  for (const file of globSync("**/*.ts", { cwd: from })) {
    const text = await readFile(join(from, file), "utf8");
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text.replaceAll(/(?:\.\.\/)+src/g, resolve("src")));
  }
}

/** Writes the page's examples that start with their file's name, next to the agent that they test. */
async function writeExamples(folder: string): Promise<void> {
  for (const [, block = "", file = ""] of page.matchAll(/^```\w+\n((?:\/\/|#) (\S+\/\S+)\n[^]*?)^```/gm)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), block);
  }
}

test("the page's whole example passes, in TypeScript and in YAML", { timeout: 60_000 }, async () => {
  // The folder is inside the repository, so that imports of the package `parley` resolve.
  await mkdir(".cache", { recursive: true });
  await using folder = await tempFolder(resolve(".cache"));
  await copyAgent(folder.path);
  await writeExamples(folder.path);

  const code = await run(folder.path, resolve("node_modules/vitest/vitest.mjs"), "run", "--root", folder.path);
  const yaml = await run(folder.path, resolve("src/cli/parley.ts"), "test");

  expect(code).toMatchObject({ status: 0, output: expect.stringMatching(/1 passed/) });
  expect(yaml).toMatchObject({
    status: 0,
    output: expect.stringMatching(/^passed {2}tests\/book\.talk\.yaml \(\d+ ms\)\n\n1 runs of 1 tests, all passed\n$/),
  });
});
