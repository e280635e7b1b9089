import { UNKNOWN } from "../lib/glob.ts";
import { plainPath } from "../lib/plain-path.ts";
import { commandDeeds } from "./shell/command-deeds.ts";
import type { Deed, Wish } from "./rule.ts";

/** The type whose values are globs of files, from the workspace's root. */
const GLOB_TYPE = "glob";
/** The types whose values are paths. One path has several spellings (`a/b`, `./a//b`). */
const PATH_TYPES: ReadonlySet<string> = new Set(["read", "edit", GLOB_TYPE]);
/** What of a glob stands for other names. More than is true only means more questions. */
const WILD = /\{.*\}|[*?[\\][^/]*/gsu;

/** The type whose values are lines for a shell. */
export const COMMAND_TYPE = "bash";

/** On these systems a program is found whatever the case of its name. */
const ANY_CASE = process.platform === "darwin" || process.platform === "win32";

/** Each thing that a call would do, by its one canonical name. Rules are compared with these. */
export function toDeeds({ type, values, ignoresCase = false }: Wish): Deed[] {
  if (type === COMMAND_TYPE)
    return values.flatMap(commandDeeds).map((deed) => ({ type, ignoresCase: ignoresCase || ANY_CASE, ...deed }));
  if (type === GLOB_TYPE) return values.map((value) => ({ ...toGlobDeed(value), ignoresCase }));
  return values.map((value) => ({ type, value: PATH_TYPES.has(type) ? plainPath(value) : value, ignoresCase }));
}

/** What a glob finds has other names than the glob itself. */
function toGlobDeed(pattern: string): Deed {
  const value = plainPath(pattern.replace(/^\/+/u, ""));
  return { type: GLOB_TYPE, value, maybes: [value.replaceAll(WILD, UNKNOWN)] };
}

/** A rule's pattern in the spelling of canonical values. A path that ends with a slash means all that is below it. */
export function toCanonicalPattern(type: string, pattern: string): string {
  if (!PATH_TYPES.has(type)) return pattern;
  const path = pattern.replaceAll(/\/(?:\.?\/)+/gu, "/").replace(/^(?:\.\/)+(?=.)/u, "");
  const folded = path.includes("..") ? withoutDetours(path) : path;
  return folded.length > 1 && folded.endsWith("/") ? `${folded}**` : folded;
}

/**
 * The same for a rule that denies or asks. A path that begins with a slash is meant from the workspace's root, too: the
 * shipped tools know no other one.
 */
export function toWidePatterns(type: string, pattern: string): readonly string[] {
  const canonical = toCanonicalPattern(type, pattern);
  return PATH_TYPES.has(type) && /^\/./u.test(canonical) ? [canonical, canonical.slice(1)] : [canonical];
}

/** `a/../b` is `b`; so is what stands for `a`. Of `**` any folder is left. */
function withoutDetours(path: string): string {
  const folders: string[] = [];
  for (const folder of path.split("/")) {
    const last = folders.at(-1);
    if (folder !== ".." || last === undefined || last === "..") folders.push(folder);
    else if (last !== "" && last !== "**") folders.pop();
  }
  return folders.join("/");
}
