import { join } from "node:path";
import { expect, test } from "vitest";
import { reply, text } from "../../src/model-server/step.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { runStages } from "./support/image-stages.ts";
import { runMainOf, settingsFor } from "./support/run-main.ts";
import { WorkerParts } from "./support/worker-parts.ts";

const ROOT = join(import.meta.dirname, "../..");

// This test takes minutes, because it installs the packages twice.
test("a folder built like each stage in the Dockerfile is a worker with a page", { timeout: 300_000 }, async () => {
  await using folder = await tempFolder();
  await using parts = await WorkerParts.start();
  parts.model.script([reply([text("I am here.")])]);

  const image = await runStages(ROOT, "Dockerfile", folder.path);
  const settings = await settingsFor({
    livekit: parts.livekit,
    databaseUrl: parts.database.url,
    modelUrl: parts.model.url,
    folder: folder.path,
  });
  const worker = runMainOf(image, { ...settings, TOKEN_SECRET: "secret-of-this-test" }, ["--worker-only"]);
  const { httpUrl = "" } = await worker.ready;
  const page = await (await fetch(httpUrl)).text();
  const user = await parts.join("kitchen", "user");
  await user.until(() => user.all("configuration").length > 0, "the worker", 40_000);
  await user.configure({});
  const answer = await user.answerTo(await user.say("Are you there?"));
  worker.kill("SIGTERM");
  await worker.ended;

  expect(page).toContain('<div id="root">');
  expect(answer).toBe("I am here.");
});
