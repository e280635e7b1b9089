import {
  ANY_CHAR,
  ANY_NAME,
  ANY_TEXT,
  anyFolders,
  literal,
  matchesGlob,
  SEVERAL,
  UNKNOWN,
  type GlobState,
  type Reading,
} from "../lib/glob.ts";
import { evictOldest } from "../lib/evict-oldest.ts";

const REMEMBERED = 1_000;

interface CompiledPattern {
  readonly states: readonly GlobState[];
  /**
   * The literal parts between the pattern's `*` and `?`, in order. A text that lacks any of them is rejected before the
   * slower full match.
   */
  readonly runs: readonly string[];
}

/**
 * What a star matches. `narrow`: anything but a slash, as in a path. `wide`: any text. `mentioned`: any text, and the
 * pattern may match inside a longer text.
 */
type Width = "narrow" | "wide" | "mentioned";

const compiled = new Map<string, CompiledPattern>();

/**
 * Whether a rule's pattern matches the whole text. `*` and `?` do not match a slash, but `**` in place of a folder
 * does. A star that is a separate word matches any text; at the end of the pattern, it may also match nothing. A
 * backslash makes the next character literal. Every other character matches itself.
 */
export function matchPattern(pattern: string, text: string, reading: Reading = "known"): boolean {
  return fits(patternOf(pattern, "narrow"), text, reading);
}

/**
 * Whether an allow rule's pattern matches a command, word by word. A star that is a separate word matches one or more
 * words; at the end of the pattern, it also matches none. A star inside a word matches part of that word, but not the
 * start of an option or an assignment, nor anything that leaves the folder, such as `..`.
 */
export function matchWords(pattern: string, words: readonly string[]): boolean {
  const parts = pattern.match(/(?:\\[^]|[^\s\\])+/gu) ?? [];
  // All possible counts of leading words that match the parts so far.
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

/** Matches a glob such as `.*`, which in older versions of bash matches `..`, too. */
const DOTS = new RegExp(`(?:^|/)\\.+${UNKNOWN}`, "u");
/** Matches the start of an option. An unknown piece may be the start of one, too. */
const OPTION = new RegExp(`^[-+${UNKNOWN}]`, "u");

/**
 * Whether a word may be anything other than a name or path inside the pattern's folder: a path that leads out of the
 * folder, an option, an assignment, or something that the shell expands to several words.
 * @param fixed the pattern's text before its first wildcard
 */
function leadsAway(word: string, fixed: string): boolean {
  if (hasDetour(word) || hasHome(word) || word.includes(SEVERAL)) return true;
  if (DOTS.test(word)) return true;
  if (/^\w+(?:\[.*\])?\+?=/su.test(word) && !fixed.includes("=")) return true;
  return fixed === "" && OPTION.test(word);
}

/**
 * Matches the places where the shell replaces `~` with a home folder, including in words that look like assignments.
 */
const HOME = /(?<=^|=|:)~[^/:]*/gu;

function hasHome(word: string): boolean {
  return word.search(HOME) >= 0;
}

/** Returns a command's text, with UNKNOWN in place of home folders. */
export function withoutHomes(words: readonly string[]): string {
  return words.map((word) => word.replaceAll(HOME, UNKNOWN)).join(" ");
}

/**
 * Whether a path contains `..`. Such a path may lead out of the folder that a pattern names, so stars in allow rules do
 * not match it.
 */
export function hasDetour(path: string): boolean {
  return /(?:^|\/)\.\.(?:\/|$)/u.test(path);
}

/** Whether the pattern of a deny or ask rule matches a command. Here every star matches any text. */
export function matchWidely(pattern: string, text: string, reading: Reading): boolean {
  return fits(patternOf(pattern, "wide"), text, reading);
}

/** Whether the pattern matches a part of the text that is neither at the text's start nor inside a longer word. */
export function isMentioned(pattern: string, text: string): boolean {
  return fits(patternOf(pattern, "mentioned"), text, "surely");
}

/** Returns a pattern that matches only this text. */
export function literalPattern(text: string): string {
  return text.replaceAll(/[\\*?]/g, String.raw`\$&`);
}

function fits({ states, runs }: CompiledPattern, text: string, reading: Reading): boolean {
  if (reading !== "possibly" || !text.includes(UNKNOWN)) {
    let from = 0;
    for (const run of runs) {
      const index = text.indexOf(run, from);
      if (index < 0) return false;
      from = index + run.length;
    }
  }
  return matchesGlob(states, text, reading);
}

function patternOf(pattern: string, width: Width): CompiledPattern {
  const key = `${width} ${pattern}`;
  return compiled.get(key) ?? remember(key, { states: compile(pattern, width), runs: runsOf(pattern) });
}

/**
 * Returns a pattern's `runs`. Trims whitespace and slashes from them, because a pattern's last star also matches
 * without these.
 */
function runsOf(pattern: string): string[] {
  if (pattern.includes("\\")) return [];
  return pattern.split(/[*?]+/u).map((run) => run.replaceAll(/^[\s/]+|[\s/]+$/gu, ""));
}

function remember(key: string, pattern: CompiledPattern): CompiledPattern {
  compiled.set(key, pattern);
  evictOldest(compiled, REMEMBERED);
  return pattern;
}

/**
 * Matches one piece of a pattern. The alternatives, in order: folders of any depth; a star as a whole word; everything
 * below a folder; a star in a name; an escaped character; any other character.
 */
const PIECE =
  /(?<folders>(?<=^|\/)\*{2,}\/)|(?<word>(?<=^|\s)\*+(?=$|\s))|(?<below>(?<=\/)\*{2,}$)|\*+|\\(?<escaped>[^])|[^]/gu;

function compile(pattern: string, width: Width): readonly GlobState[] {
  const states: GlobState[] = width === "mentioned" ? [ANY_TEXT, BOUNDARY] : [];
  const inName = width === "narrow" ? ANY_NAME : ANY_TEXT;
  let before = "";
  for (const { 0: piece, index, groups = {} } of pattern.matchAll(PIECE)) {
    const { folders, word, below, escaped } = groups;
    const isEnd = index + piece.length === pattern.length;
    if (folders) states.push(...anyFolders(states.length));
    else if ((word ?? below) && isEnd && !before.endsWith("*/")) addOptionalEnd(states);
    else if (word ?? below) states.push(ANY_TEXT);
    else if (piece.startsWith("*")) states.push(inName);
    else states.push(piece === "?" ? ANY_CHAR : literal(escaped ?? piece));
    before = piece;
  }
  if (width === "mentioned") states.push({ leadsTo: [states.length + 1, states.length + 3] }, BOUNDARY, ANY_TEXT);
  return states;
}

/** A character that can surround a command's name in a line or script. */
const BOUNDARY: GlobState = { takes: (char) => !/[\p{L}\p{N}_.-]/u.test(char), repeats: false };

/**
 * Makes the last separator and everything after it optional: `git *` matches `git`, and `notes/**` the folder itself.
 */
function addOptionalEnd(states: GlobState[]): void {
  const separator = states.pop();
  if (separator) states.push({ leadsTo: [states.length + 1, states.length + 3] }, separator);
  states.push(ANY_TEXT);
}
