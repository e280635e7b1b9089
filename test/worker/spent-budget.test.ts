import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { stallAfter } from "../../src/model-server/step.ts";
import { billed } from "../session/spending/billed.ts";
import { forFile } from "../support/lifetimes.ts";
import { jobProcesses, type RunningMain } from "./support/run-main.ts";
import { WorkerParts } from "./support/worker-parts.ts";

const parts = forFile(() => WorkerParts.start());
let main: RunningMain;

beforeAll(async () => {
  const config = join(parts.folder, "parley.config.mjs");
  await writeFile(config, `export default { instructions: "Be brief.", budget: { session: { tokens: 400 } } };`);
  main = await parts.run({ env: { PARLEY_CONFIG: config } });
});

test("a budget spent in a turn stays spent for the worker that resumes the turn after a kill -9", async () => {
  const { model } = parts;
  const { sql } = parts.database;
  const user = await parts.join("budget", "user");
  await user.until(() => user.all("configuration").length > 0, "the worker's configuration");
  await user.configure({ tools: [] });
  const seen = user.all("configuration").length;
  model.script([billed("One moment", { input: 450, output: 50 }, { fault: stallAfter(3) })]);
  const id = await user.say("First");
  await expect.poll(() => sql`select 1 from spending where scope = 'session'`, { timeout: 5_000 }).toHaveLength(1);

  for (const pid of jobProcesses(main.pid)) process.kill(pid, "SIGKILL");
  await user.until(() => user.all("configuration").length > seen, "a new worker");
  await user.configure({ tools: [] });

  expect(await user.answerTo(id)).toContain("the budget for this talk is used up");
  expect(model.requests).toHaveLength(1);
  await expect.poll(() => sql`select stop_reason from turns`).toEqual([{ stop_reason: "budget" }]);
});
