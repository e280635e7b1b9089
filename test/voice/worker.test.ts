import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { expect, test } from "vitest";
import { createId } from "../../src/lib/id.ts";
import { startModelServer } from "../../src/model-server/model-server.ts";
import { reply, text } from "../../src/model-server/step.ts";
import { Participant } from "../support/participant.ts";
import { startOwnLivekit } from "../support/servers/own-livekit.ts";
import { Speaker, speechOf } from "../support/speaker.ts";
import { tempDatabase } from "../support/servers/temp-database.ts";
import { runMain, settingsFor } from "../worker/support/run-main.ts";

const QUESTION = "What time is it?";

const LONG = "One two three four five six seven eight nine ten eleven twelve. Then we count again from the start.";

/** Starts a worker, and a participant in its room who speaks and listens. */
async function talk() {
  await using started = new AsyncDisposableStack();
  const recognizer = new LLMock({ host: "127.0.0.1", port: 0, logLevel: "silent" });
  recognizer.on({ endpoint: "transcription" }, { transcription: { text: QUESTION } });
  const [livekit, database, model] = await Promise.all([startOwnLivekit(), tempDatabase(), startModelServer()]);
  started.defer(() => livekit.close());
  started.defer(() => database.drop());
  started.defer(() => model.close());
  await recognizer.start();
  started.defer(() => recognizer.stop());
  const folder = await mkdtemp(join(tmpdir(), "parley-voice-"));
  started.defer(() => rm(folder, { recursive: true }));
  const settings = await settingsFor({ livekit, databaseUrl: database.url, modelUrl: model.url, folder });
  const main = runMain({
    ...settings,
    TTS: "espeak",
    STT: "openai",
    STT_BASE_URL: `${recognizer.url}/v1`,
    STT_MODEL: "whisper-1",
  });
  const stop = async () => {
    main.kill("SIGTERM");
    return await main.ended;
  };
  started.defer(async () => void (await stop()));
  await Promise.all([main.ready, speechOf(QUESTION)]);
  const client = await Participant.join(`room-${createId()}`, "user", { server: livekit });
  started.defer(() => client.leave());
  await client.until(() => client.all("configuration").length > 0, "the worker's configuration");
  await client.configure({});
  const user = new Speaker(client);
  started.defer(() => user.close());
  await user.publish();
  await user.untilConnected();
  const cleanup = started.move();
  return { user, model, stop, sql: database.sql, [Symbol.asyncDispose]: () => cleanup.disposeAsync() };
}

test("a worker's own job process listens and speaks", { timeout: 60_000 }, async () => {
  await using there = await talk();
  const { user, model } = there;
  model.script(() => reply([text("It is ten past two.")]));
  const { to } = await user.say(QUESTION);
  const said = await user.client.next("transcription", ({ final }) => final);
  expect(await user.client.answerTo(said.id)).toBe("It is ten past two.");
  await user.untilSound(to);
  await user.untilSilence();
  expect(user.secondsHeard(to)).toBeGreaterThan(0.8);
});

test(
  "a worker that is stopped while it speaks stores what was heard, and logs no error",
  { timeout: 60_000 },
  async () => {
    await using there = await talk();
    const { user, model, stop, sql } = there;
    model.script(() => reply([text(LONG)]));
    const { to } = await user.say(QUESTION);
    await user.untilSound(to);
    const { code, stderr } = await stop();
    expect(code).toBe(0);
    expect(stderr).not.toContain("voice ended");
    const [turn] = await sql<{ state: string; heard: string }[]>`select state, heard from turns`;
    expect(turn?.state).toBe("completed");
    expect(LONG.startsWith(turn?.heard ?? "-")).toBe(true);
    expect(turn?.heard.length).toBeLessThan(LONG.length);
  },
);

test("a missing key causes one message at startup", async () => {
  const main = runMain({ STT: "deepgram", TTS: "cartesia" });
  const { code, stderr } = await main.ended;
  expect(code).toBe(1);
  expect(stderr).toContain("DEEPGRAM_API_KEY: a key for STT=deepgram\nCARTESIA_API_KEY: a key for TTS=cartesia");
});

test.each([
  [
    "lacks its key",
    'const { TTS } = await import("@livekit/agents-plugin-cartesia"); return new TTS();',
    /parley\.config\.ts: voice\.speak failed: .*API key/iu,
  ],
  ["is no voice", "return {};", /parley\.config\.ts: voice\.speak: expected the function to return a voice/u],
])("a plugin that %s stops the start", async (_, body, message) => {
  const folder = await mkdtemp(join(import.meta.dirname, "config-"));
  try {
    const path = join(folder, "config.mjs");
    await writeFile(path, `export default { instructions: "Hi", voice: { speak: async () => { ${body} } } };`);
    const { code, stderr } = await runMain({ PARLEY_CONFIG: path }).ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
  } finally {
    await rm(folder, { recursive: true });
  }
});
