import { readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");
export const README = readFileSync(join(ROOT, "README.md"), "utf8");
/** The quickstart continues where the README ends, and a newcomer types the commands in both. */
export const QUICKSTART = readFileSync(join(ROOT, "docs/quickstart.md"), "utf8");
const FENCES = [...`${README}\n${QUICKSTART}`.matchAll(/^```(\w*)\n([^]*?)^```$/gm)];
const BLOCKS = FENCES.flatMap(([, language, block = ""]) => (language === "" ? [block] : []));

/**
 * The block of commands that starts with this text. By default, the first block, which is what a newcomer types first.
 */
export function readmeBlock(start = ""): string {
  const block = BLOCKS.find((each) => each.startsWith(start));
  if (block === undefined)
    throw new Error(`neither README.md nor docs/quickstart.md has a block that begins with: ${start}`);
  return block;
}

/** The commands after `$ ` in the block that starts with this text. */
export function typedIn(start: string): string[] {
  return [...readmeBlock(start).matchAll(/^\$ (.*)$/gm)].map(([, command = ""]) => command);
}
