import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { fetchSpeechFiles, SPEECH_PARTS } from "../../../src/speech/speech-files.ts";
import { addDefaultSpeech } from "../../../src/worker/settings/default-speech.ts";
import { forEachTest } from "../../support/lifetimes.ts";
import { tempFolder } from "../../support/temp-folder.ts";

const CACHE = join(import.meta.dirname, "../../../.cache");
const folder = forEachTest(tempFolder);

beforeAll(() => fetchSpeechFiles(join(CACHE, "speech"), SPEECH_PARTS, () => {}), 180_000);

/** The recognizer and the voice that the worker chooses with these variables, and what it reports at startup. */
async function defaultsIn(variables: NodeJS.ProcessEnv, plugins = {}) {
  const env: NodeJS.ProcessEnv = { PARLEY_CACHE_DIR: CACHE, ...variables };
  const lines: string[] = [];
  await addDefaultSpeech(env, { cwd: folder.path, plugins, progress: (line) => lines.push(line) });
  return { STT: env["STT"], TTS: env["TTS"], lines };
}

test("in a clone the embedded models listen and speak", async () => {
  expect(await defaultsIn({})).toEqual({
    STT: "embedded",
    TTS: "embedded",
    lines: ["STT is not set: embedded models listen, in English", "TTS is not set: embedded models speak, in English"],
  });
});

test("what is set stays, also in .env, and an empty value counts as not set", async () => {
  await writeFile(join(folder.path, ".env"), "STT=none\n");

  expect(await defaultsIn({ TTS: "" })).toMatchObject({ STT: "none", TTS: "embedded" });
});

test("plugins of the config file override what is set, and their models are not downloaded", async () => {
  const plugins = { listen: () => {}, speak: () => {} };

  expect(await defaultsIn({ STT: "deepgram" }, plugins)).toEqual({
    STT: "deepgram",
    TTS: undefined,
    lines: [
      "voice.listen is set in parley.config.ts: its plugin listens, STT=deepgram is ignored",
      "voice.speak is set in parley.config.ts: its plugin speaks",
    ],
  });
});

test("for another language nothing listens, and espeak-ng speaks", async () => {
  const { STT, TTS, lines } = await defaultsIn({ STT_LANGUAGE: "de-DE" });

  expect([STT, TTS]).toEqual([undefined, undefined]);
  expect(lines).toEqual([
    "STT is not set: the agent does not listen, because the embedded models know only English, and STT_LANGUAGE is de-DE",
    "TTS is not set: espeak-ng speaks, because the embedded models know only English, and STT_LANGUAGE is de-DE",
  ]);
});

test("models that cannot be downloaded do not stop the start", async () => {
  const path = process.env["PATH"];
  process.env["PATH"] = folder.path;
  const chosen = await defaultsIn({ PARLEY_CACHE_DIR: join(folder.path, "cache") }).finally(() => {
    process.env["PATH"] = path;
  });

  expect([chosen.STT, chosen.TTS]).toEqual([undefined, undefined]);
  expect(chosen.lines).toEqual([
    expect.stringMatching(/^STT is not set: the agent does not listen, because .*moonshine-js.* with npm failed/u),
    expect.stringMatching(/^TTS is not set: espeak-ng speaks, because .*hibari-tts.* with pip failed/u),
  ]);
});
