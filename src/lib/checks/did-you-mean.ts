/** Other frameworks' names for Parley's fields. */
const SYNONYMS: Readonly<Record<string, string>> = {
  parameters: "input",
  inputSchema: "input",
  execute: "run",
  handler: "run",
};

/**
 * Returns ` Did you mean "permission"?` if a name is close to one of `known`, or an empty string. Append it to an error
 * message.
 */
export function didYouMean(name: string, known: Iterable<string>): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
}

/** Returns the known name that a name is closest to, or `undefined` if it is close to none. */
export function nearestName(name: string, known: Iterable<string>): string | undefined {
  const names = [...known];
  const synonym = SYNONYMS[name];
  const [nearest] = names
    .map((each) => ({ each, edits: editsBetween(plain(name), plain(each)) }))
    .filter(({ each, edits }) => edits <= Math.max(1, Math.floor(each.length / 4)) || begins(name, each))
    .toSorted((one, other) => one.edits - other.edits);
  return nearest?.each ?? (synonym !== undefined && names.includes(synonym) ? synonym : undefined);
}

/** Whether a name is one typo away from a known name: one letter added, missing or changed, or two swapped. */
export function isOneTypoFrom(name: string, known: readonly string[]): boolean {
  return known.some((each) => editsBetween(plain(name), plain(each)) === 1);
}

/** Returns the names of all fields of a type. The compiler reports an error if one is missing. */
export function fieldsOf<Fields>(fields: Record<keyof Fields, true>): readonly string[] {
  return Object.keys(fields);
}

/**
 * @throws {TypeError} if `value` has fields that are not in `known`. The message names each of them; `owner` completes
 * "is not a field of"
 */
export function refuseUnknownFields(value: object, known: Iterable<string>, owner: string): void {
  const names = new Set(known);
  const unknown = Object.keys(value).filter((name) => !names.has(name));
  if (unknown.length === 0) return;
  throw new TypeError(
    unknown.map((name) => `"${name}" is not a field of ${owner}.${didYouMean(name, names)}`).join(" "),
  );
}

/** Whether a known name starts with this one: `LIVEKIT_AGENT` for `LIVEKIT_AGENT_NAME`, `timeout` for `timeoutMs`. */
function begins(name: string, known: string): boolean {
  return name.length >= 4 && plain(known).startsWith(plain(name));
}

/** Makes names comparable regardless of case and of the separators between words. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/gu, "");
}

/**
 * Returns the number of edits between two names: letters added, removed, changed, or swapped with their neighbor
 * (optimal string alignment).
 */
function editsBetween(from: string, to: string): number {
  let before: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const next = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const [added = 0, removed = 0, changed = 0] = [next[column - 1], last[column], last[column - 1]];
      const swapped = isSwapped ? (before[column - 2] ?? Infinity) : Infinity;
      next.push(Math.min(added + 1, removed + 1, changed + (isSame ? 0 : 1), swapped + 1));
    }
    [before, last] = [last, next];
  }
  return last[to.length] ?? 0;
}
