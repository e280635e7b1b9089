import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { expect, test } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { startModelServer } from "../support/model-server/model-server.ts";
import { reply, text } from "../support/model-server/step.ts";
import { Participant } from "../support/participant.ts";
import { startOwnLivekit } from "../support/servers/own-livekit.ts";
import { Speaker, speechOf } from "../support/speaker.ts";
import { tempDatabase } from "../support/temp-database.ts";
import { runMain, settingsFor } from "../worker/support/run-main.ts";

const QUESTION = "What time is it?";

test("a worker's own job process listens and speaks", { timeout: 60_000 }, async () => {
  await using cleanup = new AsyncDisposableStack();
  const recogniser = new LLMock({ host: "127.0.0.1", port: 0, logLevel: "silent" });
  recogniser.on({ endpoint: "transcription" }, { transcription: { text: QUESTION } });
  const [livekit, database, model] = await Promise.all([startOwnLivekit(), tempDatabase(), startModelServer()]);
  cleanup.defer(() => livekit.close());
  cleanup.defer(() => database.drop());
  cleanup.defer(() => model.close());
  await recogniser.start();
  cleanup.defer(() => recogniser.stop());
  const folder = await mkdtemp(join(tmpdir(), "parley-voice-"));
  cleanup.defer(() => rm(folder, { recursive: true }));
  const settings = await settingsFor({ livekit, databaseUrl: database.url, modelUrl: model.url, folder });
  const main = runMain({ ...settings, STT: "openai", STT_BASE_URL: `${recogniser.url}/v1`, STT_MODEL: "whisper-1" });
  cleanup.defer(async () => {
    main.kill("SIGTERM");
    await main.ended;
  });
  await Promise.all([main.ready, speechOf(QUESTION)]);
  const client = await Participant.join(`room-${createId()}`, "user", { server: livekit });
  cleanup.defer(() => client.leave());
  await client.until(() => client.all("configuration").length > 0, "the worker's configuration");
  await client.configure({});
  const user = new Speaker(client);
  cleanup.defer(() => user.close());
  await user.publish();
  await user.untilConnected();
  model.script(() => reply([text("It is ten past two.")]));

  const { to } = await user.say(QUESTION);
  const said = await client.next("transcription", ({ final }) => final);
  expect(await client.answerTo(said.id)).toBe("It is ten past two.");
  await user.untilSound(to);
  await user.untilSilence();
  expect(user.secondsHeard(to)).toBeGreaterThan(0.8);
});

test("a key that is missing is one message at the start", async () => {
  const main = runMain({ STT: "deepgram", TTS: "cartesia" });
  const { code, stderr } = await main.ended;
  expect(code).toBe(1);
  expect(stderr).toContain("DEEPGRAM_API_KEY: a key for STT=deepgram\nCARTESIA_API_KEY: a key for TTS=cartesia");
});
