import { readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");
export const README = readFileSync(join(ROOT, "README.md"), "utf8");
const BLOCKS = [...README.matchAll(/^```\n([^]*?)^```$/gm)].map(([, block = ""]) => block);

/** The README's block of commands that begins like this. The first one is the first thing that a newcomer types. */
export function readmeBlock(start = ""): string {
  const block = BLOCKS.find((each) => each.startsWith(start));
  if (block === undefined) throw new Error(`README.md has no block that begins with: ${start}`);
  return block;
}

/** What the README has a person type after `$ ` in the block that begins like this. */
export function typedIn(start: string): string[] {
  return [...readmeBlock(start).matchAll(/^\$ (.*)$/gm)].map(([, command = ""]) => command);
}
