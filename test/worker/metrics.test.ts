import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, test, vi } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { reply, text } from "../support/model-server/step.ts";
import { startModelServer } from "../support/model-server/model-server.ts";
import { Participant } from "../support/participant.ts";
import { tempDatabase } from "../support/temp-database.ts";
import { runMain, settingsFor } from "./support/run-main.ts";

vi.setConfig({ testTimeout: 60_000 });

test("/metrics of the main process shows what the sessions' processes have measured", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-metrics-"));
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  const [model, database] = await Promise.all([startModelServer(), tempDatabase()]);
  cleanup.defer(() => model.close());
  cleanup.defer(() => database.drop());
  const livekit = { url: inject("livekitUrl"), apiKey: inject("livekitApiKey"), apiSecret: inject("livekitApiSecret") };
  const main = runMain(
    await settingsFor({ livekit, databaseUrl: database.url, modelUrl: model.url, folder }),
    "--worker-only",
  );
  cleanup.defer(async () => {
    main.kill("SIGTERM");
    await main.exited;
  });
  const { httpUrl = "" } = await main.ready;
  const metrics = async () => (await fetch(`${httpUrl}/metrics`)).text();
  model.script([reply([text("Done.")])]);

  const room = `room-${createId()}`;
  const user = await Participant.join(room, "user");
  cleanup.defer(() => user.leave());
  await vi.waitFor(() => expect(user.room.remoteParticipants.size).toBe(1), { timeout: 20_000 });
  await user.configure({});
  expect(await user.answerTo(await user.say("Go"), 20_000)).toBe("Done.");

  await vi.waitFor(async () => expect(await metrics()).toContain("gen_ai_invoke_agent_duration_count"), {
    timeout: 10_000,
    interval: 200,
  });
  expect(await metrics()).toMatch(/^parley_sessions 1$/m);
  expect(await metrics()).toMatch(
    /^gen_ai_client_token_usage_bucket\{.*gen_ai_token_type="input".*le="67108864"\} 1$/m,
  );
});
