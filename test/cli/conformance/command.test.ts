import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { expect, inject, test } from "vitest";
import { tempFolder } from "../../support/temp-folder.ts";

interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

function conformance(...args: readonly string[]): Promise<Ended> {
  const env = {
    ...process.env,
    NODE_ENV: "production",
    LIVEKIT_URL: inject("livekitUrl"),
    LIVEKIT_API_KEY: inject("livekitApiKey"),
    LIVEKIT_API_SECRET: inject("livekitApiSecret"),
  };
  const command = ["src/cli/conformance/main.ts", ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, command, { env }, (error, stdout, stderr) => {
      resolve({ status: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });
}

test("a client that does not run fails every check, in all reports", { timeout: 60_000 }, async () => {
  await using folder = await tempFolder();
  const [expected, json, html] = ["expected.txt", "report.json", "report.html"].map((name) => `${folder.path}/${name}`);
  await writeFile(`${expected}`, "call.answered # known\nno.such-check\n");
  const files = ["--expected", `${expected}`, "--json", `${json}`, "--html", `${html}`];
  const { status, stdout } = await conformance(
    "client",
    ...files,
    "--",
    process.execPath,
    "-e",
    "console.error('no client')",
  );

  expect(status).toBe(1);
  expect(stdout).toMatch(/^FAILED {4}MUST {4}join\.configuration$/m);
  expect(stdout).toMatch(/^expected {2}MUST {4}call\.answered$/m);
  expect(stdout).toContain("the client program exited with status 0, stderr:\n          > no client");
  expect(stdout).toContain("stale     no.such-check");
  expect(JSON.parse(await readFile(`${json}`, "utf8"))).toMatchObject({ status: 1, stale: ["no.such-check"] });
  expect(await readFile(`${html}`, "utf8")).toContain('<td class="FAILED">FAILED</td>');
});

test("the error for a missing program contains its name", { timeout: 60_000 }, async () => {
  const { status, stdout } = await conformance("client", "--", "/no/such/program");

  expect(status).toBe(1);
  expect(stdout).toContain("the client program could not be started: spawn /no/such/program ENOENT");
});

test("a wrong command line prints the usage and exits with 2", async () => {
  const { status, stderr } = await conformance("client");

  expect(status).toBe(2);
  expect(stderr).toContain("expected the client's command after --");
});
