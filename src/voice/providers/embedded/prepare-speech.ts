import { resolve } from "node:path";
import { fetchSpeechFiles, RECOGNIZER_PARTS, VOICE_PARTS } from "../../../speech/speech-files.ts";

/**
 * Downloads missing files for listening or speaking, and reports this on stderr. Returns the folder.
 *
 * @throws {AppError} `unavailable` if a download fails
 */
export async function prepareSpeech(use: "listen" | "speak", env: NodeJS.ProcessEnv): Promise<string> {
  const folder = resolve(env["PARLEY_CACHE_DIR"] || ".cache", "speech");
  const parts = use === "listen" ? RECOGNIZER_PARTS : VOICE_PARTS;
  await fetchSpeechFiles(folder, parts, (line) => process.stderr.write(`parley: ${line}\n`));
  return folder;
}
