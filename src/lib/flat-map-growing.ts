/**
 * A `flatMap` for the lists of a talk: each is the one before with another end. Only what is not in the list before is looked
 * at, so that a long talk costs what a short one does. Of lists with one first item, the last is remembered.
 *
 * @param make what an item gives; an item does not change
 */
export function flatMapGrowing<Item extends object, Made>(
  make: (item: Item) => readonly Made[],
): (items: readonly Item[]) => Made[] {
  const remembered = new WeakMap<Item, Grown<Item, Made>>();
  return (items) => {
    const [first] = items;
    if (first === undefined) return [];
    const grown = remembered.get(first) ?? { items: [], made: [], ends: [] };
    remembered.set(first, grown);
    const same = sameBeginning(grown.items, items);
    cut(grown, same);
    for (const item of items.slice(same)) {
      grown.made.push(...make(item));
      grown.items.push(item);
      grown.ends.push(grown.made.length);
    }
    return [...grown.made];
  };
}

interface Grown<Item, Made> {
  readonly items: Item[];
  readonly made: Made[];
  /** By item, how much of `made` there is up to and with it. */
  readonly ends: number[];
}

function cut({ items, made, ends }: Grown<unknown, unknown>, count: number): void {
  items.length = count;
  ends.length = count;
  made.length = ends.at(-1) ?? 0;
}

/** How many items two lists have in common at their beginning. */
export function sameBeginning<Item extends object>(one: readonly Item[], other: readonly Item[]): number {
  const most = Math.min(one.length, other.length);
  let same = 0;
  while (same < most && one[same] === other[same]) same++;
  return same;
}
