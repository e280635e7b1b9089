import { setTimeout as sleep } from "node:timers/promises";
import { Room } from "@livekit/rtc-node";
import { expect, test, vi } from "vitest";
import { connect } from "../../src/client/index.ts";
import type { RecordedRequest } from "../../src/model-server/model-server.ts";
import { reply, slow, text } from "../../src/model-server/step.ts";
import { createToken } from "../support/participant.ts";
import { jobProcesses } from "./support/run-main.ts";
import { WorkerParts } from "./support/worker-parts.ts";

/** The budget in test/fixtures/budget/parley.config.ts. */
const BUDGET = 6_000;
const WORDS = "It has been a long day, and there is much to tell of it. ".repeat(6);

const promptOf = ({ usage = {} }: RecordedRequest) =>
  ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"].reduce(
    (sum, key) => sum + Number(usage[key]),
    0,
  );

test("a budget survives kill -9, and is exceeded by one step at most", { timeout: 240_000 }, async () => {
  await using parts = await WorkerParts.start();
  const main = await parts.run({ env: { PARLEY_CONFIG: "test/fixtures/budget/parley.config.ts" } });
  const { model, database, livekit } = parts;
  model.script(() => reply([text(WORDS)], slow(30)));
  const room = new Room();
  const token = await createToken("kitchen", "ann", { server: livekit });
  await room.connect(livekit.url, token, { autoSubscribe: false, dynacast: false });
  const ann = await connect(room, { waitForAgentMs: 60_000 });

  let kills = 0;
  let said = "";
  for (let turn = 1; turn <= 20 && !said.includes("budget"); turn++) {
    const before = model.requests.length;
    const answering = ann.ask(`Question ${turn}. ${WORDS}`, { timeoutMs: 60_000 });
    if (turn % 2 === 0) {
      await vi.waitUntil(() => model.requests.length > before, { timeout: 30_000 });
      // Kills the host processes in the middle of the answer.
      await sleep(200);
      for (const pid of jobProcesses(main.pid)) process.kill(pid, "SIGKILL");
      kills += 1;
    }
    said = (await answering).text;
  }
  await ann.close();

  const prompts = model.requests.map(promptOf);
  const billed = prompts.reduce((sum, tokens) => sum + tokens, 0);
  const [spent] = await database.sql<{ tokens: number; calls: number }[]>`
    select sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::int as tokens, sum(calls)::int as calls
    from spending where scope = 'session'
  `;
  process.stderr.write(`${JSON.stringify({ kills, requests: prompts.length, billed, spent })}\n`);
  expect(said).toContain("the budget for this talk is used up");
  expect(kills).toBeGreaterThan(1);
  expect(spent?.calls).toBe(prompts.length);
  expect(spent?.tokens).toBeGreaterThanOrEqual(billed);
  expect(billed).toBeLessThan(BUDGET + Math.max(...prompts));
  expect(model.rejections).toEqual([]);
});
