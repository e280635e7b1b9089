import { UNKNOWN } from "../lib/glob.ts";
import { plainPath } from "../lib/plain-path.ts";
import { commandOperations } from "./shell/command-operations.ts";
import type { Operation, PermissionInput } from "./rule.ts";

/** The type whose values are file globs, relative to the workspace's root. */
const GLOB_TYPE = "glob";
/** The types whose values are paths. A path can be spelled in several ways (`a/b`, `./a//b`). */
const PATH_TYPES: ReadonlySet<string> = new Set(["read", "edit", GLOB_TYPE]);
/**
 * Matches the parts of a glob that may stand for other text. Matching too much only causes more permission requests.
 */
const WILD = /\{.*\}|[*?[\\][^/]*/gsu;

/** The type whose values are shell command lines. */
export const COMMAND_TYPE = "bash";

/** Whether this system finds programs regardless of the case of their names. */
const ANY_CASE = process.platform === "darwin" || process.platform === "win32";

/** Returns everything that a call would do, each under its canonical name, which rules are compared with. */
export function toOperations({ type, values, ignoresCase = false }: PermissionInput): Operation[] {
  if (type === COMMAND_TYPE)
    return values
      .flatMap(commandOperations)
      .map((operation) => ({ type, ignoresCase: ignoresCase || ANY_CASE, ...operation }));
  if (type === GLOB_TYPE) return values.map((value) => ({ ...toGlobOperation(value), ignoresCase }));
  return values.map((value) => ({ type, value: PATH_TYPES.has(type) ? plainPath(value) : value, ignoresCase }));
}

/** Adds the names that a glob may match, because they differ from the glob itself. */
function toGlobOperation(pattern: string): Operation {
  const value = plainPath(pattern.replace(/^\/+/u, ""));
  return { type: GLOB_TYPE, value, maybes: [value.replaceAll(WILD, UNKNOWN)] };
}

/**
 * Returns a rule's pattern in the canonical spelling of values. A path that ends with a slash means everything below
 * it.
 */
export function toCanonicalPattern(type: string, pattern: string): string {
  if (!PATH_TYPES.has(type)) return pattern;
  const path = pattern.replaceAll(/\/(?:\.?\/)+/gu, "/").replace(/^(?:\.\/)+(?=.)/u, "");
  const folded = path.includes("..") ? withoutDetours(path) : path;
  return folded.length > 1 && folded.endsWith("/") ? `${folded}**` : folded;
}

/**
 * Returns the canonical patterns of a deny or ask rule. A path with a leading slash is also read as relative to the
 * workspace's root, because the built-in tools have no other root.
 */
export function toWidePatterns(type: string, pattern: string): readonly string[] {
  const canonical = toCanonicalPattern(type, pattern);
  return PATH_TYPES.has(type) && /^\/./u.test(canonical) ? [canonical, canonical.slice(1)] : [canonical];
}

/** Resolves `..` in a pattern: `a/../b` becomes `b`. A `**` remains, because it may match more than one folder. */
function withoutDetours(path: string): string {
  const folders: string[] = [];
  for (const folder of path.split("/")) {
    const last = folders.at(-1);
    if (folder !== ".." || last === undefined || last === "..") folders.push(folder);
    else if (last !== "" && last !== "**") folders.pop();
  }
  return folders.join("/");
}
