import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { processStart } from "../../../src/worker/process/running-processes.ts";
import { reply, text, toolUse } from "../../../src/testing/model-server/step.ts";
import { WorkerParts } from "../../worker/support/worker-parts.ts";

test("a worker's rooms find the servers connected, one that hangs delays nothing, and none outlives the worker", async () => {
  await using parts = await WorkerParts.start();
  const { model, folder } = parts;
  const notes = async () => (await readFile(join(folder, "notes"), "utf8").catch(() => "")).split("\n");
  const main = await parts.run({
    env: { PARLEY_CONFIG: "test/fixtures/mcp/parley.config.ts", MCP_NOTES: join(folder, "notes") },
  });
  await vi.waitFor(async () => expect((await notes())[0]).toMatch(/^start/), { timeout: 10_000 });

  const user = await parts.join(`room-${createId()}`, "user");
  await user.until(() => user.all("configuration").length > 0, "the worker's configuration");
  model.script([reply([toolUse("shop_echo", { text: "hi" })]), reply([text("Done.")])]);
  expect(await user.answerTo(await user.say("Go"))).toBe("Done.");
  expect(model.rejections).toEqual([]);
  expect(await notes()).toContain("call echo");

  main.kill("SIGTERM");
  expect(await main.ended).toMatchObject({ code: 0 });
  const started = (await notes()).flatMap((line) => /^start (\d+) - -$/.exec(line)?.[1] ?? []);
  expect(started.length).toBeGreaterThan(0);
  await vi.waitFor(() => expect(started.filter((pid) => processStart(Number(pid)) !== undefined)).toEqual([]));
}, 60_000);
