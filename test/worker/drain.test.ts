import { beforeEach, expect, test } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { reply, slow, text, toolUse } from "../../src/model-server/step.ts";
import { announced } from "../support/client-tool.ts";
import { forEachTest } from "../support/lifetimes.ts";
import type { Participant } from "../support/participant.ts";
import type { RunningMain } from "./support/run-main.ts";
import { WorkerParts } from "./support/worker-parts.ts";

const parts = forEachTest(() => WorkerParts.start());
let main: RunningMain;
let user: Participant;

beforeEach(async () => {
  main = await parts.run({ env: { PARLEY_CONFIG: "test/fixtures/restart/parley.config.ts" } });
  user = await parts.join(`room-${createId()}`, "user");
  await user.until(() => user.all("configuration").length > 0, "the worker's configuration");
  await user.configure({ tools: [announced("scan")] });
});

/**
 * Stops the worker as a deployment does. Returns its exit code, the stored states of its turns, and the number of
 * leases that are left.
 */
async function stopWorker(): Promise<{ code: number | null; states: string[]; leases: number }> {
  const { sql, url } = parts.database;
  main.kill("SIGTERM");
  const { code, stdout, stderr } = await main.ended;
  // The worker must not print the password of a database that it has not started itself.
  expect(stdout + stderr).not.toContain(new URL(url).password);
  const turns = await sql<{ state: string }[]>`select state from turns order by position`;
  const leases = await sql`select 1 from sessions where lease_owner is not null`;
  return { code, states: turns.map(({ state }) => state), leases: leases.length };
}

test("a turn that soon ends is finished before the worker stops", async () => {
  parts.model.script([reply([text("One two three. Four five six.")], slow(30))]);
  const id = await user.say("Go");
  await user.next("start_answer");

  expect(await stopWorker()).toEqual({ code: 0, states: ["completed"], leases: 0 });
  expect(await user.answerTo(id)).toBe("One two three. Four five six.");
});

test("a waiting turn is settled: its call has an unknown outcome, and its record is complete", async () => {
  parts.model.script([reply([toolUse("scan")])]);
  await user.say("Go");
  await user.next("tool_use_request");

  expect(await stopWorker()).toEqual({ code: 0, states: ["failed"], leases: 0 });
  expect(await parts.database.sql`select state, error_code from tool_calls`).toMatchObject([
    { state: "error", error_code: "outcome_unknown" },
  ]);
  const blocks = await parts.database.sql<
    { block_type: string }[]
  >`select block_type from turn_blocks order by sequence`;
  expect(blocks.map(({ block_type }) => block_type)).toEqual(["tool_use", "tool_result"]);
});
