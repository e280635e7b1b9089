import { globSync, readFileSync } from "node:fs";

/** A fenced block on a page. */
export interface Fence {
  readonly page: string;
  /** The text after the three backticks, which may be empty. */
  readonly language: string;
  readonly text: string;
  /** The page and the first line of the block. The tables in fence-rules.ts list blocks by this name. */
  readonly name: string;
}

const PAGES = [
  ...globSync("{*,docs/**/*,test/README,clients/*/README,examples/README,examples/*/README}.md"),
].toSorted();

/** All fenced blocks on all pages. */
export const FENCES: readonly Fence[] = PAGES.flatMap((page) => {
  const blocks = readFileSync(page, "utf8").matchAll(/^( *)```(\w*)\n([^]*?)^\1```$/gm);
  return Array.from(blocks, ([, , language = "", text = ""]) => {
    return { page, language, text, name: `${page}: ${text.split("\n", 1)[0]?.trim()}` };
  });
});

/**
 * The commands in a block: the text after each `$ `, or the whole block if no line starts with that. Lines joined by a
 * backslash are one command.
 */
export function commandsOf({ text }: Fence): string[] {
  const typed = [...text.matchAll(/^\$ (.*)$/gm)].map(([, command = ""]) => command);
  const lines = typed.length > 0 ? typed : text.replaceAll(/\\\n\s*/g, " ").split("\n");
  return lines.filter((line) => line.trim() !== "" && !line.startsWith("#"));
}

const PROGRAMS =
  "npm|npx|docker|kubectl|git|curl|echo|mkdir|printf|for|sudo|cd|node|python3|pip|pytest|python|url|base";

/** Whether a block without a language contains commands that the reader types, as opposed to output. */
export function isTyped(fence: Fence): boolean {
  if (fence.text.startsWith("$ ")) return true;
  const [first = ""] = commandsOf(fence);
  return new RegExp(`^(?:[A-Z_]+=\\S* *)*(?:(?:${PROGRAMS})\\b|\\.venv/|#|$)`).test(first);
}
