import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { vi } from "vitest";
import { fetchSpeechFiles, RECOGNIZER_PARTS } from "../../src/speech/speech-files.ts";
import { EmbeddedRecognizer } from "../../src/voice/providers/embedded/embedded-recognizer.ts";
import { SpeechProcess } from "../../src/worker/services/speech-process.ts";

export const CACHE = join(import.meta.dirname, "../../.cache");
const FOLDER = join(CACHE, "speech");

/** Downloads the recognizer's files, unless they are in the cache. Returns their folder. */
export async function fetchRecognizer(): Promise<string> {
  await fetchSpeechFiles(FOLDER, RECOGNIZER_PARTS, () => {});
  return FOLDER;
}

/** Loads the embedded recognizer in this process, for `forFile`. This takes seconds on a busy machine. */
export async function loadRecognizer() {
  await fetchRecognizer();
  const loaded = await EmbeddedRecognizer.load({ PARLEY_CACHE_DIR: CACHE });
  return Object.assign(loaded, { [Symbol.asyncDispose]: () => loaded.close() });
}

/** Starts a speech process that listens, for `forFile`. Resolves once its model is loaded. */
export async function startSpeechProcess(logger: Logger) {
  const started = await SpeechProcess.start({ folder: await fetchRecognizer(), uses: ["listen"], logger });
  await vi.waitUntil(() => existsSync(started.socket), 120_000);
  return Object.assign(started, { [Symbol.asyncDispose]: () => started.close() });
}
