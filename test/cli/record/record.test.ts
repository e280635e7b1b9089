import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { parseRecordOptions } from "../../../src/cli/record/run-record.ts";
import { PublishedSession } from "../../support/doubles/published-session.ts";
import { forFile } from "../../support/lifetimes.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const database = forFile(tempDatabase);
const config = resolve("test/fixtures/testing/parley.config.ts");

type Ran = { status: number; stdout: string; stderr: string };

const parley = (cwd: string, ...args: readonly string[]) => parleyWith(database.url, cwd, ...args);

function parleyWith(databaseUrl: string, cwd: string, ...args: readonly string[]): Promise<Ran> {
  const env = { ...process.env, DATABASE_URL: databaseUrl };
  return new Promise((done) => {
    execFile(process.execPath, [resolve("src/cli/parley.ts"), ...args], { cwd, env }, (error, stdout, stderr) => {
      done({ status: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });
}

test("a stored session is written as a test, which parley test runs", async () => {
  await using folder = await tempFolder();
  const talk = await PublishedSession.begin(database.sql);
  await talk.say("Hello, Ann.");

  const recorded = await parley(folder.path, "record", "--room", talk.room, "--config", config, "--out", "a.talk.yaml");
  const ran = await parley(folder.path, "test");

  expect(recorded).toMatchObject({ status: 0, stdout: "a.talk.yaml and a.cassette.json: 1 turns\n" });
  expect(await readFile(join(folder.path, "a.talk.yaml"), "utf8")).toContain("user: Hi");
  expect(ran).toMatchObject({ status: 0, stdout: expect.stringContaining("all passed") as string });
});

test("for a room without a session one clear sentence is printed", async () => {
  await using folder = await tempFolder();

  const { status, stderr } = await parley(folder.path, "record", "--room", "nowhere", "--config", config);

  expect([status, stderr]).toEqual([1, "parley record: The room nowhere has no stored session\n"]);
});

test("for an unreachable database one clear sentence is printed, without the password", async () => {
  await using folder = await tempFolder();
  const nowhere = "postgres://parley:secret@127.0.0.1:1/parley";

  const { status, stderr } = await parleyWith(nowhere, folder.path, "record", "--room", "kitchen", "--config", config);

  const place = "127.0.0.1:1/parley";
  expect([status, stderr]).toEqual([1, `parley record: The database is unavailable (ECONNREFUSED): ${place}\n`]);
});

test("for an invalid address one clear sentence is printed, with the variable and without the address", async () => {
  await using folder = await tempFolder();

  const { status, stderr } = await parleyWith("kitchen:secret", folder.path, "record", "--room", "kitchen");

  expect(status).toBe(2);
  expect(stderr).toContain("parley record: DATABASE_URL: expected a URL such as postgres://127.0.0.1:5432/parley\n");
  expect(stderr).not.toContain("secret");
});

test("the direct address takes precedence over a pooler's, and PGPASSWORD is its password", () => {
  const environment = {
    DATABASE_URL: "postgres://parley@10.0.0.2:6432/parley",
    DATABASE_DIRECT_URL: "postgres://parley@10.0.0.1:5432/parley",
    PGPASSWORD: "a/b%",
  };

  const options = parseRecordOptions(["--room", "kitchen"], environment);

  expect(options?.databaseUrl).toBe("postgres://parley:a%2Fb%25@10.0.0.1:5432/parley");
});
