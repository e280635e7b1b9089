import { ANY_CHAR, ANY_NAME, ANY_TEXT, anyFolders, literal, type Place } from "../../src/lib/glob.ts";

/**
 * Compiles a glob for file names: `*` and `?` within a name, a doubled star for folders at any depth, `[a-z]`,
 * `[!a-z]`, `{a,b}`, and a backslash before a literal character. Any other character matches itself.
 */
export function compileFileGlob(pattern: string): readonly Place[] {
  const places: Place[] = [];
  addPart({ pattern, places, start: 0, end: pattern.length, isNameStart: true });
  return places;
}

interface Part {
  readonly pattern: string;
  /** The compiled places are added here. */
  readonly places: Place[];
  readonly start: number;
  readonly end: number;
  /** Whether a name may begin at `start`, which is the case after a slash and at the beginning of the glob. */
  readonly isNameStart: boolean;
}

function addPart({ pattern, places, start, end, isNameStart }: Part): void {
  let canStart = isNameStart;
  for (let index = start; index < end; index++) {
    const char = pattern.charAt(index);
    const next = index + 1 < end ? pattern.charAt(index + 1) : "";
    const beforeIt = canStart;
    canStart = char === "/";
    const close = char === "[" ? classEnd(pattern, index, end) : char === "{" ? braceEnd(pattern, index, end) : -1;
    if (char === "*" && next === "*") {
      let after = index + 2;
      while (after < end && pattern[after] === "*") after++;
      const isWhole = beforeIt && (after === end || pattern[after] === "/");
      if (isWhole && after < end) places.push(...anyFolders(places.length));
      else places.push(isWhole ? ANY_TEXT : ANY_NAME);
      index = isWhole ? after : after - 1;
      canStart = isWhole;
    } else if (char === "*") places.push(ANY_NAME);
    else if (char === "?") places.push(ANY_CHAR);
    else if (char === "[" && close > 0) {
      places.push(toClass(pattern.slice(index + 1, close)));
      index = close;
    } else if (char === "{" && close > 0) {
      addAlternatives({ pattern, places, start: index + 1, end: close, isNameStart: beforeIt });
      index = close;
    } else if (char === "\\" && next !== "") {
      index += addLiteral(pattern, places, index + 1);
    } else index += addLiteral(pattern, places, index) - 1;
  }
}

/** Adds the character at an index, and returns its length in UTF-16 code units. */
function addLiteral(pattern: string, places: Place[], index: number): number {
  const char = String.fromCodePoint(pattern.codePointAt(index) ?? 0);
  places.push(literal(char));
  return char.length;
}

function addAlternatives({ pattern, places, start, end, isNameStart }: Part): void {
  const starts: number[] = [];
  const exits: number[][] = [];
  places.push({ leadsTo: starts });
  for (const [from, to] of splitAtCommas(pattern, start, end)) {
    starts.push(places.length);
    addPart({ pattern, places, start: from, end: to, isNameStart });
    const exit: number[] = [];
    exits.push(exit);
    places.push({ leadsTo: exit });
  }
  for (const exit of exits) exit.push(places.length);
}

function splitAtCommas(pattern: string, start: number, end: number): [from: number, to: number][] {
  const parts: [number, number][] = [];
  let from = start;
  for (let index = start, depth = 0; index < end; index++) {
    const char = pattern[index];
    if (char === "\\") index++;
    else if (char === "{") depth++;
    else if (char === "}") depth--;
    else if (char === "," && depth === 0) {
      parts.push([from, index]);
      from = index + 1;
    }
  }
  return [...parts, [from, end]];
}

/** Returns the index of the `]` for the `[` at `start`, or -1 if there is none. */
function classEnd(pattern: string, start: number, end: number): number {
  const first = start + ("!^".includes(pattern[start + 1] ?? " ") ? 2 : 1);
  for (let index = first; index < end; index++) {
    if (pattern[index] === "\\") index++;
    else if (pattern[index] === "]" && index > first) return index;
  }
  return -1;
}

/**
 * Returns the index of the `}` for the `{` at `start`, or -1 if there is no such `}` or no comma between the braces.
 */
function braceEnd(pattern: string, start: number, end: number): number {
  let hasComma = false;
  for (let index = start, depth = 0; index < end; index++) {
    const char = pattern[index];
    if (char === "\\") index++;
    else if (char === "{") depth++;
    else if (char === "," && depth === 1) hasComma = true;
    else if (char === "}" && --depth === 0) return hasComma ? index : -1;
  }
  return -1;
}

function toClass(text: string): Place {
  const isNot = /^[!^]/u.test(text);
  const chars = Array.from(isNot ? text.slice(1) : text);
  const ranges: [low: string, high: string][] = [];
  for (let index = 0; index < chars.length; index++) {
    if (chars[index] === "\\" && index + 1 < chars.length) index++;
    const low = chars[index] ?? "";
    const isRange = chars[index + 1] === "-" && index + 2 < chars.length;
    ranges.push([low, isRange ? (chars[index + 2] ?? low) : low]);
    if (isRange) index += 2;
  }
  const isListed = (char: string) => ranges.some(([low, high]) => low <= char && char <= high);
  return { takes: (char) => char !== "/" && isListed(char) !== isNot, repeats: false };
}
