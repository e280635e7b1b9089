import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { connect, type Sql } from "../../src/store/database/pool.ts";
import { startModelServer, type ModelServer } from "../support/model-server/model-server.ts";
import { reply, slow, text, toolUse } from "../support/model-server/step.ts";
import { Participant } from "../support/participant.ts";
import { startOwnLivekit } from "../support/servers/own-livekit.ts";
import { tempDatabase } from "../support/servers/temp-database.ts";
import { settingsFor, runMain, type RunningMain } from "./support/run-main.ts";

let model: ModelServer;
let sql: Sql;
let password: string;
let main: RunningMain;
let user: Participant;
let cleanup: AsyncDisposableStack;

beforeEach(async () => {
  cleanup = new AsyncDisposableStack();
  const [livekit, database] = await Promise.all([startOwnLivekit(), tempDatabase()]);
  cleanup.defer(() => livekit.close());
  cleanup.defer(() => database.drop());
  model = await startModelServer();
  cleanup.defer(() => model.close());
  const folder = await mkdtemp(join(tmpdir(), "parley-drain-"));
  cleanup.defer(() => rm(folder, { recursive: true }));
  ({ password } = new URL(database.url));
  sql = connect(database.url, { maxConnections: 1 });
  cleanup.defer(() => sql.end({ timeout: 1 }));
  main = runMain({
    ...(await settingsFor({ livekit, databaseUrl: database.url, modelUrl: model.url, folder })),
    PARLEY_CONFIG: "test/fixtures/restart/parley.config.ts",
  });
  await main.ready;
  user = await Participant.join(`room-${createId()}`, "user", { server: livekit });
  cleanup.defer(() => user.leave());
  await user.until(() => user.all("configuration").length > 0, "the worker's configuration");
  await user.configure({ tools: [{ name: "scan", description: "S.", inputSchema: { type: "object" } }] });
});

afterEach(async () => {
  await cleanup.disposeAsync();
});

/** Stops the worker as a deployment does, and says what is stored of its turns. */
async function stopped(): Promise<{ code: number | null; states: string[]; leases: number }> {
  main.kill("SIGTERM");
  const { code, stdout, stderr } = await main.ended;
  // Of a database that it has not started itself.
  expect(stdout + stderr).not.toContain(password);
  const turns = await sql<{ state: string }[]>`select state from turns order by position`;
  const leases = await sql`select 1 from sessions where lease_owner is not null`;
  return { code, states: turns.map(({ state }) => state), leases: leases.length };
}

test("a turn that ends soon is finished before the worker stops", async () => {
  model.script([reply([text("One two three. Four five six.")], slow(30))]);
  const id = await user.say("Go");
  await user.next("start_answer");

  expect(await stopped()).toEqual({ code: 0, states: ["completed"], leases: 0 });
  expect(await user.answerTo(id)).toBe("One two three. Four five six.");
});

test("a turn that waits is settled: nobody knows how its call ended, its record is whole", async () => {
  model.script([reply([toolUse("scan")])]);
  await user.say("Go");
  await user.next("tool_use_request");

  expect(await stopped()).toEqual({ code: 0, states: ["failed"], leases: 0 });
  expect(await sql`select state, error_code from tool_calls`).toMatchObject([
    { state: "error", error_code: "outcome_unknown" },
  ]);
  const blocks = await sql<{ block_type: string }[]>`select block_type from turn_blocks order by sequence`;
  expect(blocks.map(({ block_type }) => block_type)).toEqual(["tool_use", "tool_result"]);
});
