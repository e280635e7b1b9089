import {
  ANY_CHAR,
  ANY_NAME,
  ANY_TEXT,
  anyFolders,
  literal,
  matchesGlob,
  UNKNOWN,
  type Place,
  type Reading,
} from "../lib/glob.ts";
import { keepNewest } from "../lib/keep-newest.ts";

const REMEMBERED = 1_000;

interface CompiledPattern {
  readonly places: readonly Place[];
  /** What stands between its stars: a text without one of these is not looked at further. */
  readonly runs: readonly string[];
}

/** How much a star stands for: as in a path; any text; any text, and that around the pattern as well. */
type Width = "narrow" | "wide" | "mentioned";

const compiled = new Map<string, CompiledPattern>();

/**
 * Whether a rule's pattern says a text. In a path, `*` and `?` stay in one folder and a doubled star does not; a star
 * that is a word of its own stands for any text, and the last word may be missing then. A backslash takes what follows
 * as it is, and everything else is itself.
 */
export function matchPattern(pattern: string, text: string, reading: Reading = "known"): boolean {
  return fits(patternOf(pattern, "narrow"), text, reading);
}

/** The same for a rule that forbids or asks about commands: a star stands for any text there, wherever it is. */
export function matchWidely(pattern: string, text: string, reading: Reading): boolean {
  return fits(patternOf(pattern, "wide"), text, reading);
}

/** Whether what a pattern says stands somewhere in a text, but not at its beginning. */
export function isMentioned(pattern: string, text: string): boolean {
  return fits(patternOf(pattern, "mentioned"), text, "surely");
}

/** The pattern that says this text and nothing else. */
export function literalPattern(text: string): string {
  return text.replaceAll(/[\\*?]/g, String.raw`\$&`);
}

function fits({ places, runs }: CompiledPattern, text: string, reading: Reading): boolean {
  if (reading !== "possibly" || !text.includes(UNKNOWN)) {
    let from = 0;
    for (const run of runs) {
      const index = text.indexOf(run, from);
      if (index < 0) return false;
      from = index + run.length;
    }
  }
  return matchesGlob(places, text, reading);
}

function patternOf(pattern: string, width: Width): CompiledPattern {
  const key = `${width} ${pattern}`;
  return compiled.get(key) ?? remember(key, { places: compile(pattern, width), runs: runsOf(pattern) });
}

/** Without the blanks and slashes at their ends, which a star may take or leave away. */
function runsOf(pattern: string): string[] {
  if (pattern.includes("\\")) return [];
  return pattern.split(/[*?]+/u).map((run) => run.replaceAll(/^[\s/]+|[\s/]+$/gu, ""));
}

function remember(key: string, pattern: CompiledPattern): CompiledPattern {
  compiled.set(key, pattern);
  keepNewest(compiled, REMEMBERED);
  return pattern;
}

/**
 * Folders of any depth; a star that is a word of its own; all that is below a folder; a star in a name; a character
 * behind a backslash; any other.
 */
const PIECE =
  /(?<folders>(?<=^|\/)\*{2,}\/)|(?<word>(?<=^|\s)\*+(?=$|\s))|(?<below>(?<=\/)\*{2,}$)|\*+|\\(?<escaped>[^])|[^]/gu;

function compile(pattern: string, width: Width): readonly Place[] {
  const places: Place[] = width === "mentioned" ? [ANY_TEXT, BOUNDARY] : [];
  const inName = width === "narrow" ? ANY_NAME : ANY_TEXT;
  let before = "";
  for (const { 0: piece, index, groups = {} } of pattern.matchAll(PIECE)) {
    const { folders, word, below, escaped } = groups;
    const isEnd = index + piece.length === pattern.length;
    if (folders) places.push(...anyFolders(places.length));
    else if ((word ?? below) && isEnd && !before.endsWith("*/")) addOptionalEnd(places);
    else if (word ?? below) places.push(ANY_TEXT);
    else if (piece.startsWith("*")) places.push(inName);
    else places.push(piece === "?" ? ANY_CHAR : literal(escaped ?? piece));
    before = piece;
  }
  if (width === "mentioned") places.push({ leadsTo: [places.length + 1, places.length + 3] }, BOUNDARY, ANY_TEXT);
  return places;
}

/** What stands beside a word in a line, in a script or in another word. */
const BOUNDARY: Place = { takes: (char) => !/[\p{L}\p{N}_.-]/u.test(char), repeats: false };

/** Any text behind what was added last, or neither: `git *` says `git`, and `notes/**` the folder. */
function addOptionalEnd(places: Place[]): void {
  const separator = places.pop();
  if (separator) places.push({ leadsTo: [places.length + 1, places.length + 3] }, separator);
  places.push(ANY_TEXT);
}
