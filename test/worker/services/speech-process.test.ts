import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { pino } from "pino";
import { beforeEach, expect, test, vi } from "vitest";
import { RemoteModel } from "../../../src/speech/remote-model.ts";
import { SpeechProcess } from "../../../src/worker/services/speech-process.ts";
import { fetchRecognizer, startSpeechProcess } from "../../support/embedded-speech.ts";
import { forFile } from "../../support/lifetimes.ts";
import { recording } from "../../support/recordings.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { pidsNaming } from "../support/run-main.ts";

// The model is loaded once, which takes seconds on a busy machine.
vi.setConfig({ hookTimeout: 180_000 });

const logged: string[] = [];
const logger = pino({}, { write: (line) => logged.push((JSON.parse(line) as { msg: string }).msg) });

beforeEach(() => {
  logged.length = 0;
});

const speech = forFile(() => startSpeechProcess(logger));

async function tenOfClubs(): Promise<Float32Array> {
  return Float32Array.from(await recording("ten-of-clubs"), (sample) => sample / 32_768);
}

/** Opens a recognizer, as each session has one. */
const listener = () => new RemoteModel<Float32Array, string>(speech.socket, "/listen");

async function listen(samples: Float32Array): Promise<string | undefined> {
  const [text] = await Array.fromAsync(listener().ask(samples));
  return text;
}

test("one process answers the questions of all sessions", async () => {
  const samples = await tenOfClubs();

  const heard = await Promise.all([listen(samples), listen(samples), listen(samples)]);

  expect(heard).toEqual(Array.from({ length: 3 }, () => "Ten of clubs."));
  expect(pidsNaming(speech.socket)).toHaveLength(1);
});

test("after a kill -9 a new process answers, including what was being asked", { timeout: 60_000 }, async () => {
  const samples = await tenOfClubs();
  const [killed = 0] = pidsNaming(speech.socket);
  const asked = listen(samples);
  process.kill(killed, "SIGKILL");

  expect(await asked).toBe("Ten of clubs.");
  expect(await listen(samples)).toBe("Ten of clubs.");
  expect(pidsNaming(speech.socket)).not.toContain(killed);
  expect(logged.filter((line) => line !== "speech models loaded")).toEqual(["speech process exited, restarting"]);
});

test("a process that is closed leaves no process, no socket and no folder", { timeout: 60_000 }, async () => {
  const closed = await SpeechProcess.start({ folder: await fetchRecognizer(), uses: [], logger });
  const [pid = 0] = pidsNaming(closed.socket);

  await closed.close();
  await closed.close();

  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  expect(existsSync(dirname(closed.socket))).toBe(false);
});

test("models that cannot be loaded are reported, and do not hold up the start", { timeout: 60_000 }, async () => {
  await using empty = await tempFolder();
  const started = await SpeechProcess.start({ folder: empty.path, uses: ["listen"], logger });

  await vi.waitFor(() => expect(logged).toContain("speech process exited, restarting"), 30_000);
  await started.close();
});
