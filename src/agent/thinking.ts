import { readFileSync } from "node:fs";
import { z } from "zod";
import { parseWav, type Sound } from "./wav.ts";

const soundFile = z
  .string()
  .min(1)
  .superRefine((path, context) => {
    try {
      readSound(path);
    } catch (error) {
      context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
    }
  });

/**
 * What is heard while the model keeps a participant waiting: `sound` is Parley's own sound, other text is spoken, and a
 * WAV file is played. The file's path is relative to the working directory.
 */
export const thinkingSchema = z.union(
  [z.string().min(1), z.strictObject({ sound: soundFile })],
  'expected "sound", the words to say, or {sound: "file.wav"}',
);

export type ThinkingSetting = z.output<typeof thinkingSchema>;

const known = new Map<string, Sound>();

/** Reads a WAV file, each file only once. @throws {Error} if it cannot be read or used */
export function readSound(path: string): Sound {
  const sound = known.get(path) ?? parseWav(readFileSync(path));
  known.set(path, sound);
  return sound;
}
