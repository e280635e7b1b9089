import {
  ANY_CHAR,
  ANY_NAME,
  ANY_TEXT,
  anyFolders,
  literal,
  matchesGlob,
  SEVERAL,
  UNKNOWN,
  type Place,
  type Reading,
} from "../lib/glob.ts";
import { keepNewest } from "../lib/keep-newest.ts";

const REMEMBERED = 1_000;

interface CompiledPattern {
  readonly places: readonly Place[];
  /** The texts between its stars and `?`. A text that lacks one of them, in order, is refused at once. */
  readonly runs: readonly string[];
}

/** What a star stands for: `narrow`, as in a path; `wide`, any text; `mentioned`, as `wide`, with any text around. */
type Width = "narrow" | "wide" | "mentioned";

const compiled = new Map<string, CompiledPattern>();

/**
 * Whether a rule's pattern matches a whole text. `*` and `?` do not match a slash; `**` in the place of a folder does.
 * A star that is a word of its own matches any text; as the last word it may also be missing. A backslash takes the
 * next character as it is. Every other character matches itself.
 */
export function matchPattern(pattern: string, text: string, reading: Reading = "known"): boolean {
  return fits(patternOf(pattern, "narrow"), text, reading);
}

/**
 * Whether the pattern of a rule that allows matches a command, word by word. A star that is a word of its own stands for one
 * or more words, or for none at the end. A star in a word stands for a part of that word, but not for the beginning of an
 * option or of an assignment, and not for a way out of a folder.
 */
export function matchWords(pattern: string, words: readonly string[]): boolean {
  const parts = pattern.match(/(?:\\[^]|[^\s\\])+/gu) ?? [];
  // Which numbers of words the parts so far can match.
  let reached = new Set([0]);
  for (const [index, part] of parts.entries()) {
    const next = new Set<number>();
    if (/^\*+$/u.test(part)) {
      const least = Math.min(...reached) + (index === parts.length - 1 ? 0 : 1);
      for (let count = least; count <= words.length; count++) next.add(count);
    } else
      for (const count of reached) {
        const word = words[count];
        if (word !== undefined && matchWord(part, word)) next.add(count + 1);
      }
    if (next.size === 0) return false;
    reached = next;
  }
  return reached.has(words.length);
}

function matchWord(pattern: string, word: string): boolean {
  const fixed = /^(?:\\[^]|[^*?\\])*/u.exec(pattern)?.[0] ?? "";
  if (fixed !== pattern && leadsAway(word, fixed)) return false;
  return matchPattern(pattern, word, "surely");
}

/** A file name pattern that finds `..` in older versions of bash. */
const DOTS = new RegExp(`(?:^|/)\\.+${UNKNOWN}`, "u");
/** What is not known may begin an option, too. */
const OPTION = new RegExp(`^[-+${UNKNOWN}]`, "u");

/**
 * Whether a word may be something else than a name or a path in the folder that a pattern names: a way out of it, an option, an
 * assignment, or what the shell expands to other words. @param fixed the pattern's text before its first star
 */
function leadsAway(word: string, fixed: string): boolean {
  if (hasDetour(word) || hasHome(word) || word.includes(SEVERAL)) return true;
  if (DOTS.test(word)) return true;
  if (/^\w+(?:\[.*\])?\+?=/su.test(word) && !fixed.includes("=")) return true;
  return fixed === "" && OPTION.test(word);
}

/** Where the shell puts a home folder in place of a `~`, also in what looks like an assignment. */
const HOME = /(?<=^|=|:)~[^/:]*/gu;

function hasHome(word: string): boolean {
  return word.search(HOME) >= 0;
}

/** A command's text, with UNKNOWN in place of home folders. */
export function withoutHomes(words: readonly string[]): string {
  return words.map((word) => word.replaceAll(HOME, UNKNOWN)).join(" ");
}

/** `..` leads out of the folder that a pattern names, so its stars do not match such a path. */
export function hasDetour(path: string): boolean {
  return /(?:^|\/)\.\.(?:\/|$)/u.test(path);
}

/** The same for a rule that denies or asks about commands: there, every star matches any text. */
export function matchWidely(pattern: string, text: string, reading: Reading): boolean {
  return fits(patternOf(pattern, "wide"), text, reading);
}

/** Whether the pattern matches a part of a text that does not begin the text. */
export function isMentioned(pattern: string, text: string): boolean {
  return fits(patternOf(pattern, "mentioned"), text, "surely");
}

/** The pattern that matches this text and nothing else. */
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

/** Blanks and slashes at the ends are cut: a pattern's last star also matches without them. */
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
 * In this order: folders of any depth; a star that is a word; all that is below a folder; a star in a name; a character
 * after a backslash; any other character.
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

/** A character that can stand beside a command's name in a line or a script. */
const BOUNDARY: Place = { takes: (char) => !/[\p{L}\p{N}_.-]/u.test(char), repeats: false };

/** Makes the last separator and all after it optional: `git *` matches `git`, and `notes/**` the folder itself. */
function addOptionalEnd(places: Place[]): void {
  const separator = places.pop();
  if (separator) places.push({ leadsTo: [places.length + 1, places.length + 3] }, separator);
  places.push(ANY_TEXT);
}
