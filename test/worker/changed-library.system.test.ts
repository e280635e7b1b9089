import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { reply, text } from "../../src/model-server/step.ts";
import { isAgentsProcess } from "../../src/livekit/job-processes.ts";
import { isHostProcess } from "../../src/worker/hosts/session-host.ts";
import { processCommand } from "../../src/worker/process/running-processes.ts";
import { jobProcesses } from "./support/run-main.ts";
import { WorkerParts } from "./support/worker-parts.ts";

const CHANGED = pathToFileURL(join(import.meta.dirname, "../fixtures/changed-library/without-member.ts"));

test("with a release of LiveKit's library with a changed pool, each session has its own process, and the log says so", async () => {
  await using parts = await WorkerParts.start();
  parts.model.script(() => reply([text("Here.")]));
  const worker = await parts.run({ env: { NODE_OPTIONS: `--import ${CHANGED.href}` } });
  const users = await Promise.all(["ann", "ben"].map((name) => parts.join(`room-${createId()}`, name)));

  for (const user of users) {
    await user.until(() => user.all("configuration").length > 0, "the worker", 40_000);
    await user.configure({});
    expect(await user.answerTo(await user.say("Hello?"))).toBe("Here.");
  }
  const commands = jobProcesses(worker.pid).map(processCommand);
  expect(commands.filter(isHostProcess)).toEqual([]);
  expect(commands.filter(isAgentsProcess).length).toBeGreaterThanOrEqual(2);

  worker.kill("SIGTERM");
  const { code, stderr } = await worker.ended;
  expect(code).toBe(0);
  expect(stderr).toContain("this @livekit/agents release cannot share processes, running one session per process");
}, 120_000);
