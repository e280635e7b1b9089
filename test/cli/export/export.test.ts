import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { forFile } from "../../support/lifetimes.ts";
import { PublishedSession } from "../../support/doubles/published-session.ts";
import { EventServer } from "../../support/servers/event-server.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";

const CLI = fileURLToPath(new URL("../../../src/cli/parley.ts", import.meta.url));
const secret = "secret-of-the-token-route";

const database = forFile(tempDatabase);
const server = forFile(() => EventServer.start({ databaseUrl: database.url, tokenSecret: secret }));

async function parley(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, TOKEN_SECRET: secret };
  return promisify(execFile)(process.execPath, [CLI, ...args], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
  );
}

test("parley export prints a room's transcript, as Markdown or as JSON", async () => {
  const talk = await PublishedSession.begin(database.sql);
  await talk.say("Hello, Ann.");

  const markdown = await parley("export", "--room", talk.room, "--http", server.url);
  const json = await parley("export", "--room", talk.room, "--http", server.url, "--format", "json");

  expect(markdown.stdout).toMatch(
    /^# Transcript of `room-.*\*\*`ann`\*\*\n\n> Hi\n\n\*\*Agent\*\*\n\n> Hello, Ann\.\n$/s,
  );
  expect(JSON.parse(json.stdout)).toMatchObject({ session: { id: talk.id }, turns: [{ said: "Hi" }] });
});

test("for a room without a session one clear sentence is printed, and for a wrong command line the usage", async () => {
  const none = await parley("export", "--room", "nowhere", "--http", server.url);
  const wrong = await parley("export", "--room", "kitchen", "--format", "pdf");

  expect([none.code, none.stderr]).toEqual([
    1,
    `parley export: ${server.url}/session/nowhere/transcript answered 404: There is no such session in the token's room\n`,
  ]);
  expect([wrong.code, wrong.stderr.split("\n")[0]]).toEqual([
    2,
    "parley export: --format: expected markdown or json, got pdf",
  ]);
});
