import fc from "fast-check";
import { expect, test } from "vitest";
import { incrementalFlatMap, commonPrefixLength } from "../../src/lib/incremental-flat-map.ts";

interface Item {
  readonly letters: readonly string[];
}

/** Lists that begin alike here and there, of twelve items. */
const items = Array.from({ length: 12 }, (_, index): Item => ({ letters: ["a", "b", "c"].slice(0, index % 4) }));
const lists = fc.array(fc.array(fc.nat(items.length - 1).map((index) => items[index] as Item)), { maxLength: 20 });

test("gives what flatMap gives, for any lists one after another", () => {
  fc.assert(
    fc.property(lists, (all) => {
      const lettersOf = incrementalFlatMap(({ letters }: Item) => letters);
      for (const list of all) expect(lettersOf(list)).toEqual(list.flatMap(({ letters }) => letters));
    }),
  );
});

test("looks at no item of the list before again", () => {
  const seen: Item[] = [];
  const lettersOf = incrementalFlatMap((item: Item) => {
    seen.push(item);
    return item.letters;
  });
  const [first, second, third] = [{ letters: ["a"] }, { letters: ["b", "c"] }, { letters: ["d"] }];
  lettersOf([first, second]);
  lettersOf([first, second, third]);
  lettersOf([first, second, third]);
  expect(seen).toEqual([first, second, third]);
});

test("sees what was added to the list itself", () => {
  const lettersOf = incrementalFlatMap(({ letters }: Item) => letters);
  const list = [{ letters: ["a"] }];
  lettersOf(list);
  list.push({ letters: ["b"] });
  expect(lettersOf(list)).toEqual(["a", "b"]);
});

test("a list that was given out stays as it is", () => {
  const lettersOf = incrementalFlatMap(({ letters }: Item) => letters);
  const [first, second] = [{ letters: ["a"] }, { letters: ["b"] }];
  const before = lettersOf([first]);
  lettersOf([first, second]);
  expect(before).toEqual(["a"]);
});

test("counts the items that two lists have in common at their beginning", () => {
  const [a, b, c] = items;
  expect(commonPrefixLength([a, b, c] as Item[], [a, b, a] as Item[])).toBe(2);
  expect(commonPrefixLength([] as Item[], [a] as Item[])).toBe(0);
});
