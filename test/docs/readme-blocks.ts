import { readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");
export const README = readFileSync(join(ROOT, "README.md"), "utf8");
/** The quickstart continues where the README ends: a newcomer types the commands of both. */
export const QUICKSTART = readFileSync(join(ROOT, "docs/quickstart.md"), "utf8");
const FENCES = [...`${README}\n${QUICKSTART}`.matchAll(/^```(\w*)\n([^]*?)^```$/gm)];
const BLOCKS = FENCES.flatMap(([, language, block = ""]) => (language === "" ? [block] : []));

/** The block of commands that begins like this. The first one is the first thing that a newcomer types. */
export function readmeBlock(start = ""): string {
  const block = BLOCKS.find((each) => each.startsWith(start));
  if (block === undefined)
    throw new Error(`neither README.md nor docs/quickstart.md has a block that begins with: ${start}`);
  return block;
}

/** The commands behind `$ ` in the block that begins like this. */
export function typedIn(start: string): string[] {
  return [...readmeBlock(start).matchAll(/^\$ (.*)$/gm)].map(([, command = ""]) => command);
}
