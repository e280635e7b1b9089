/**
 * An incremental `flatMap` for a conversation's lists, where each list extends or trims the previous one. Only new
 * items are mapped, so the cost does not grow with the conversation. Lists that begin with the same item share a cache.
 *
 * @param make maps an item; items must not change
 */
export function incrementalFlatMap<Item extends object, Made>(
  make: (item: Item) => readonly Made[],
): (items: readonly Item[]) => Made[] {
  const remembered = new WeakMap<Item, Grown<Item, Made>>();
  return (items) => {
    const [first] = items;
    if (first === undefined) return [];
    const grown = remembered.get(first) ?? { items: [], made: [], ends: [] };
    remembered.set(first, grown);
    const same = commonPrefixLength(grown.items, items);
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
  /** For each item, the length of `made` up to and including that item's results. */
  readonly ends: number[];
}

function cut({ items, made, ends }: Grown<unknown, unknown>, count: number): void {
  items.length = count;
  ends.length = count;
  made.length = ends.at(-1) ?? 0;
}

/** Returns how many items two lists have in common at their start. */
export function commonPrefixLength<Item extends object>(one: readonly Item[], other: readonly Item[]): number {
  const most = Math.min(one.length, other.length);
  let same = 0;
  while (same < most && one[same] === other[same]) same++;
  return same;
}
