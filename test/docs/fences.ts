import { globSync, readFileSync } from "node:fs";

/** A fenced block of a page. */
export interface Fence {
  readonly page: string;
  /** What is behind the three backticks, which may be nothing. */
  readonly language: string;
  readonly text: string;
  /** Page and first line, by which tables of exceptions name it. */
  readonly name: string;
}

const PAGES = [
  ...globSync("{*,docs/**/*,test/README,clients/*/README,examples/README,examples/*/README}.md"),
].toSorted();

/** All fenced blocks of all pages. */
export const FENCES: readonly Fence[] = PAGES.flatMap((page) => {
  const blocks = readFileSync(page, "utf8").matchAll(/^( *)```(\w*)\n([^]*?)^\1```$/gm);
  return Array.from(blocks, ([, , language = "", text = ""]) => {
    return { page, language, text, name: `${page}: ${text.split("\n", 1)[0]?.trim()}` };
  });
});

/** The commands of a block: what stands behind `$ `, else all of it. Lines that a backslash joins are one. */
export function commandsOf({ text }: Fence): string[] {
  const typed = [...text.matchAll(/^\$ (.*)$/gm)].map(([, command = ""]) => command);
  const lines = typed.length > 0 ? typed : text.replaceAll(/\\\n\s*/g, " ").split("\n");
  return lines.filter((line) => line.trim() !== "" && !line.startsWith("#"));
}

const PROGRAMS =
  "npm|npx|docker|kubectl|git|curl|echo|mkdir|printf|for|sudo|cd|node|python3|pip|pytest|python|url|base";

/** Whether a block without a language is what somebody types, and not what is printed. */
export function isTyped(fence: Fence): boolean {
  if (fence.text.startsWith("$ ")) return true;
  const [first = ""] = commandsOf(fence);
  return new RegExp(`^(?:[A-Z_]+=\\S* *)*(?:(?:${PROGRAMS})\\b|\\.venv/|#|$)`).test(first);
}
