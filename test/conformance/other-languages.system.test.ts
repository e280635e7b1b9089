import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NO_PYTHON, preparePython } from "../support/python.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { notPassed, runClient } from "./run-client.ts";

const PYTHON_CLIENT = join(import.meta.dirname, "../clients/python/conformance.py");
const hasGo = spawnSync("go", ["version"]).status === 0;

// The first build takes a minute or two, because Go downloads modules. After that, Go has them in its cache.
test.skipIf(!hasGo)("a client in Go, written using only the protocol page, passes", { timeout: 400_000 }, async () => {
  await using folder = await tempFolder();
  const program = `${folder.path}/client`;
  const env = { ...process.env, CGO_ENABLED: "0" };
  const build = spawnSync("go", ["build", "-o", program, "."], { cwd: "test/conformance/go", env });
  expect({ status: build.status, said: String(build.stderr) }).toMatchObject({ status: 0 });

  expect(notPassed(await runClient(program))).toEqual([]);
});

test("the Python client passes every check", { timeout: 400_000 }, async ({ skip }) => {
  const python = await preparePython();
  if (!python) return skip(NO_PYTHON);
  const env = Object.entries(python.env).map(([name, value]) => `${name}=${value}`);

  const verdicts = await runClient("env", ...env, python.command, PYTHON_CLIENT);

  expect(notPassed(verdicts)).toEqual([]);
});
