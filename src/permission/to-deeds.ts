import { plainPath } from "../lib/plain-path.ts";
import { commandDeeds } from "./shell/command-deeds.ts";
import { type Deed, type Wish } from "./rule.ts";

/** The types whose values are paths, and so have more than one spelling. */
const PATH_TYPES: ReadonlySet<string> = new Set(["read", "edit"]);

/** The type whose values are lines for a shell. */
export const COMMAND_TYPE = "bash";

/** Where programs are found by any case of their names. */
const ANY_CASE = process.platform === "darwin" || process.platform === "win32";

/** What rules are held against: each thing that a call would do, by its one canonical name. */
export function toDeeds({ type, values, ignoresCase = false }: Wish): Deed[] {
  if (type === COMMAND_TYPE)
    return values.flatMap(commandDeeds).map((deed) => ({ type, ignoresCase: ignoresCase || ANY_CASE, ...deed }));
  return values.map((value) => ({ type, value: PATH_TYPES.has(type) ? plainPath(value) : value, ignoresCase }));
}

/** A rule's pattern in the one spelling that values have. One with a slash at its end means all that is below. */
export function toCanonicalPattern(type: string, pattern: string): string {
  if (!PATH_TYPES.has(type)) return pattern;
  const path = pattern.replaceAll(/\/(?:\.?\/)+/gu, "/").replace(/^(?:\.\/)+(?=.)/u, "");
  return path.length > 1 && path.endsWith("/") ? `${path}**` : path;
}
