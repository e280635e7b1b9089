import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fetchSpeechFiles, RECOGNIZER_PARTS, VOICE_PARTS } from "../../../speech/speech-files.ts";
import type { SpeechUse } from "../../../speech/start-model.ts";

const PARTS = { listen: RECOGNIZER_PARTS, speak: VOICE_PARTS, endOfTurn: [] } as const satisfies Record<
  SpeechUse,
  object
>;

/** A file of the package that contains all parts of the recognizer and of the voice. */
const PACKAGE = "@parley/speech/package.json";

/**
 * Returns the folder of the models: the package `@parley/speech`, or else `speech` in the cache folder. Downloads files
 * that are missing in the cache folder, and reports that on stderr.
 *
 * @throws {AppError} `unavailable` if a download fails
 */
export async function prepareSpeech(uses: readonly SpeechUse[], cacheDir: string): Promise<string> {
  const installed = installedSpeech();
  if (installed !== undefined) return installed;
  const folder = join(cacheDir, "speech");
  const parts = uses.flatMap((use) => PARTS[use]);
  await fetchSpeechFiles(folder, parts, (line) => process.stderr.write(`parley: ${line}\n`));
  return folder;
}

/** Returns the folder of the package `@parley/speech` if it is installed. */
export function installedSpeech(): string | undefined {
  try {
    return dirname(fileURLToPath(import.meta.resolve(PACKAGE)));
  } catch {
    return undefined;
  }
}
