import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { createId } from "../../../src/lib/id.ts";
import { processStart } from "../../../src/worker/process/running-processes.ts";
import { startModelServer } from "../../support/model-server/model-server.ts";
import { reply, text, toolUse } from "../../support/model-server/step.ts";
import { Participant } from "../../support/participant.ts";
import { startOwnLivekit } from "../../support/servers/own-livekit.ts";
import { tempDatabase } from "../../support/servers/temp-database.ts";
import { settingsFor, runMain } from "../../worker/support/run-main.ts";

test("a worker's rooms find the servers connected, one that hangs delays nothing, and none outlives the worker", async () => {
  await using cleanup = new AsyncDisposableStack();
  const [livekit, database] = await Promise.all([startOwnLivekit(), tempDatabase()]);
  cleanup.defer(() => livekit.close());
  cleanup.defer(() => database.drop());
  const model = await startModelServer();
  cleanup.defer(() => model.close());
  const folder = await mkdtemp(join(tmpdir(), "parley-mcp-"));
  cleanup.defer(() => rm(folder, { recursive: true }));
  const notes = async () => (await readFile(join(folder, "notes"), "utf8").catch(() => "")).split("\n");
  const main = runMain({
    ...(await settingsFor({ livekit, databaseUrl: database.url, modelUrl: model.url, folder })),
    PARLEY_CONFIG: "test/fixtures/mcp/parley.config.ts",
    MCP_NOTES: join(folder, "notes"),
  });
  await main.ready;
  await vi.waitFor(async () => expect((await notes())[0]).toMatch(/^start/), { timeout: 10_000 });

  const user = await Participant.join(`room-${createId()}`, "user", { server: livekit });
  cleanup.defer(() => user.leave());
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
