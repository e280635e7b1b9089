interface Known<Item, Made> {
  readonly items: readonly Item[];
  readonly made: readonly Made[];
  /** By item, how much of `made` there is up to and with it. */
  readonly ends: readonly number[];
}

/**
 * A `flatMap` for the lists of a talk: each is the one before with another end. Only what is not in the list before is looked
 * at, so that a long talk costs what a short one does. Of lists with one first item, the last is remembered.
 *
 * @param make what an item gives; an item does not change
 */
export function flatMapGrowing<Item extends object, Made>(
  make: (item: Item) => readonly Made[],
): (items: readonly Item[]) => readonly Made[] {
  const remembered = new WeakMap<Item, Known<Item, Made>>();
  return (items) => {
    const [first] = items;
    if (first === undefined) return [];
    const before = remembered.get(first) ?? { items: [], made: [], ends: [] };
    const same = sameBeginning(before.items, items);
    if (same === items.length && same === before.items.length) return before.made;
    const ends = before.ends.slice(0, same);
    const made = before.made.slice(0, ends.at(-1) ?? 0);
    for (const item of items.slice(same)) {
      made.push(...make(item));
      ends.push(made.length);
    }
    remembered.set(first, { items: [...items], made, ends });
    return made;
  };
}

/** How many items two lists have in common at their beginning. */
export function sameBeginning<Item extends object>(one: readonly Item[], other: readonly Item[]): number {
  const most = Math.min(one.length, other.length);
  let same = 0;
  while (same < most && one[same] === other[same]) same++;
  return same;
}
