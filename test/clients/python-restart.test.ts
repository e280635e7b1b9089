import { beforeAll, expect, test } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { reply, text } from "../../src/model-server/step.ts";
import { scriptOf } from "../support/client-tool.ts";
import { forFile } from "../support/lifetimes.ts";
import { createToken } from "../support/participant.ts";
import { jobProcesses, type RunningMain } from "../worker/support/run-main.ts";
import { WorkerParts } from "../worker/support/worker-parts.ts";
import { pythonPrograms } from "./python-programs.ts";

const { play } = pythonPrograms();
const parts = forFile(() => WorkerParts.start());
let main: RunningMain;

// The worker starts before the test, because its start takes time that says nothing about the client.
beforeAll(async () => {
  main = await parts.run({ env: { PARLEY_CONFIG: "test/fixtures/restart/parley.config.ts" } });
});

test(
  "killed while the client's tool runs: the next worker receives its result, and the tool runs once",
  { timeout: 60_000 },
  async () => {
    const room = `room-${createId()}`;
    const left = scriptOf("scan");
    parts.model.script(() => left.shift() ?? reply([text("Unplanned.")]));
    const token = await createToken(room, "python", { server: parts.livekit });
    const { untilReported, cue, end } = await play("stay", room, { url: parts.livekit.url, token });
    await untilReported({ tool: "started" }, 30_000);

    for (const pid of jobProcesses(main.pid)) process.kill(pid, "SIGKILL");
    // LiveKit may announce the next agent before it reports that the previous one has left.
    await untilReported({ connected: true }, 30_000);
    cue("scan");

    const { code, reports } = await end();
    expect(code).toBe(0);
    expect(reports.filter(({ tool }) => tool !== undefined)).toEqual([{ tool: "started" }, { tool: "ended" }]);
    expect(reports.at(-1)).toEqual({ answer: "Done." });
    const calls = await parts.database.sql`select state, result, extra_answers from tool_calls`;
    expect(calls).toMatchObject([{ state: "success", result: { pages: 1 }, extra_answers: [] }]);
  },
);
