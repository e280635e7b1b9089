import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";

/** The total number of lines in an example's sources. */
export async function countLines(folder: string): Promise<number> {
  const files = await Array.fromAsync(glob("**/*.{ts,sql}", { cwd: folder }));
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  return texts.reduce((sum, text) => sum + text.trimEnd().split("\n").length, 0);
}
