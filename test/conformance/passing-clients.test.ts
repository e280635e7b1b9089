import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp-folder.ts";
import { nodeClient, notPassed, runClient } from "./run-client.ts";

test("our SDK passes every check", { timeout: 60_000 }, async () => {
  const verdicts = await runClient(...nodeClient("sdk-client.ts"));

  expect(notPassed(verdicts)).toEqual([]);
});

const hasGo = spawnSync("go", ["version"]).status === 0;

// Built once, which takes a minute or two and fetches modules; after that Go has them.
test.skipIf(!hasGo)("a client in Go passes, which was written from the page alone", { timeout: 400_000 }, async () => {
  await using folder = await tempFolder();
  const program = `${folder.path}/client`;
  const env = { ...process.env, CGO_ENABLED: "0" };
  const build = spawnSync("go", ["build", "-o", program, "."], { cwd: "test/conformance/go", env });
  expect({ status: build.status, said: String(build.stderr) }).toMatchObject({ status: 0 });

  expect(notPassed(await runClient(program))).toEqual([]);
});
