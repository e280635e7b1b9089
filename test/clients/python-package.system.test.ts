import { execFile } from "node:child_process";
import { cp, mkdir, readdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp-folder.ts";
import { PACKAGE, pythonForFile } from "../support/python.ts";

const run = promisify(execFile);
type Folders = [string, string, string];

/** A program that uses the package. */
const USE = `
from pathlib import Path

import parley_client
from parley_client import Parley, ToolContext, tool


@tool(timeout=5)
async def show(message: str, context: ToolContext) -> None:
    """Shows a text."""


async def talk(parley: Parley) -> str:
    parley.register_tool(show)
    return (await parley.ask("Hello")).text


print(Path(parley_client.__file__).parents[1])
`;

const CODE = [".", "../../examples/python-client", "../../test/clients/python"];

const python = pythonForFile();

/** Runs a Python module with arguments in a folder, and resolves to its output, even when it fails. */
async function module(args: readonly string[], { cwd = PACKAGE, env = {} }: { cwd?: string; env?: object } = {}) {
  const options = { cwd, env: { ...process.env, ...python()?.env, ...env } };
  const done = run(python()?.command ?? "", ["-m", ...args], options).catch(
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
  const { code, stdout, stderr } = { code: 0, ...(await done) };
  return { code, output: stdout + stderr };
}

const fine = { code: 0, output: expect.any(String) as string };

test("the package's own tests pass", { timeout: 60_000 }, async () => {
  expect(await module(["pytest", "-q", "-p", "no:cacheprovider"])).toEqual(fine);
});

test("the package and the programs that use it pass strict type checking", { timeout: 120_000 }, async () => {
  expect(await module(["mypy", "--cache-dir", "/dev/null"])).toEqual(fine);
});

test("the package has no lint errors and is formatted", async () => {
  expect(await module(["ruff", "check", "--no-cache", ...CODE])).toEqual(fine);
  expect(await module(["ruff", "format", "--no-cache", "--check", ...CODE])).toEqual(fine);
});

test("the package's wheel works and is typed without its sources", { timeout: 120_000 }, async () => {
  await using folder = await tempFolder();
  const [sources, wheels, user] = ["sources", "wheels", "user"].map((name) => join(folder.path, name)) as Folders;
  await cp(PACKAGE, sources, { recursive: true });
  await mkdir(user);
  expect(await module(["hatchling", "build", "-t", "wheel", "-d", wheels], { cwd: sources })).toEqual(fine);
  const [wheel = ""] = await readdir(wheels);
  const installed = join(folder.path, "installed");
  expect(await module(["zipfile", "-e", join(wheels, wheel), installed])).toEqual(fine);
  await writeFile(join(user, "use.py"), USE);
  const env = { PYTHONPATH: [installed, python()?.packages].join(delimiter) };

  expect(await module(["use"], { cwd: user, env })).toEqual({ code: 0, output: `${installed}\n` });
  expect(await module(["mypy", "--strict", "--cache-dir", "/dev/null", "use.py"], { cwd: user, env })).toEqual(fine);
  expect((await readdir(installed)).toSorted()).toEqual([
    "parley_client",
    expect.stringMatching(/^parley_client-[\d.]+\.dist-info$/),
  ]);
});
