/** The words of other kits for fields of ours. */
const SYNONYMS: Readonly<Record<string, string>> = {
  parameters: "input",
  inputSchema: "input",
  execute: "run",
  handler: "run",
};

/**
 * ` Did you mean "permission"?` for a name that is nearly one of `known`; an empty text when none is near. To be put at the
 * end of an error.
 */
export function didYouMean(name: string, known: Iterable<string>): string {
  const names = [...known];
  const synonym = SYNONYMS[name];
  const ranked = names
    .map((each) => ({ each, edits: editsBetween(plain(name), plain(each)) }))
    .filter(({ each, edits }) => edits <= Math.max(1, Math.floor(each.length / 4)) || begins(name, each))
    .toSorted((one, other) => one.edits - other.edits);
  const [nearest = synonym !== undefined && names.includes(synonym) ? synonym : undefined] = ranked.map(
    ({ each }) => each,
  );
  return nearest === undefined ? "" : ` Did you mean "${nearest}"?`;
}

/** Whether a name is one slip of the keyboard away from a known one: a letter more, less or other, or two swapped. */
export function isOneSlipFrom(name: string, known: readonly string[]): boolean {
  return known.some((each) => editsBetween(plain(name), plain(each)) === 1);
}

/** The names of all fields of a type; the compiler finds one that is missing. */
export function fieldsOf<Fields>(fields: Record<keyof Fields, true>): readonly string[] {
  return Object.keys(fields);
}

/** @throws {TypeError} naming each field of `value` that is not among `known`. `owner` completes "is not a field of" */
export function refuseUnknownFields(value: object, known: Iterable<string>, owner: string): void {
  const names = new Set(known);
  const unknown = Object.keys(value).filter((name) => !names.has(name));
  if (unknown.length === 0) return;
  throw new TypeError(
    unknown.map((name) => `"${name}" is not a field of ${owner}.${didYouMean(name, names)}`).join(" "),
  );
}

/** `LIVEKIT_AGENT` is the beginning of `LIVEKIT_AGENT_NAME`, as is `timeout` of `timeoutMs`. */
function begins(name: string, known: string): boolean {
  return name.length >= 4 && plain(known).startsWith(plain(name));
}

/** Spelled alike, whatever the case and whatever is between the words. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/gu, "");
}

/** How many letters must be added, removed, changed or swapped with their neighbor (optimal string alignment). */
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
