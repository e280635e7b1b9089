import fc from "fast-check";
import { expect, test } from "vitest";
import { incrementalFlatMap, commonPrefixLength } from "../../src/lib/incremental-flat-map.ts";

interface Item {
  readonly letters: readonly string[];
}

/** Twelve items. The list of each contains the first 0 to 3 of the same letters. */
const items = Array.from({ length: 12 }, (_, index): Item => ({ letters: ["a", "b", "c"].slice(0, index % 4) }));
const lists = fc.array(fc.array(fc.nat(items.length - 1).map((index) => items[index] as Item)), { maxLength: 20 });

test("returns the same as flatMap, for any sequence of lists", () => {
  fc.assert(
    fc.property(lists, (all) => {
      const lettersOf = incrementalFlatMap(({ letters }: Item) => letters);
      for (const list of all) expect(lettersOf(list)).toEqual(list.flatMap(({ letters }) => letters));
    }),
  );
});

test("does not process an item of the previous list again", () => {
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

test("includes items added to the list itself", () => {
  const lettersOf = incrementalFlatMap(({ letters }: Item) => letters);
  const list = [{ letters: ["a"] }];
  lettersOf(list);
  list.push({ letters: ["b"] });
  expect(lettersOf(list)).toEqual(["a", "b"]);
});

test("a returned list is never modified", () => {
  const lettersOf = incrementalFlatMap(({ letters }: Item) => letters);
  const [first, second] = [{ letters: ["a"] }, { letters: ["b"] }];
  const before = lettersOf([first]);
  lettersOf([first, second]);
  expect(before).toEqual(["a"]);
});

test("counts the items in the common prefix of two lists", () => {
  const [a, b, c] = items;
  expect(commonPrefixLength([a, b, c] as Item[], [a, b, a] as Item[])).toBe(2);
  expect(commonPrefixLength([] as Item[], [a] as Item[])).toBe(0);
});
