import { expect, test } from "vitest";
import { evictOldest } from "../../src/lib/evict-oldest.ts";

test("what was put in first goes first, whether it was read or not", () => {
  const kept = new Map([
    ["a", 1],
    ["b", 2],
    ["c", 3],
    ["d", 4],
  ]);
  kept.get("a");

  evictOldest(kept, 2);
  evictOldest(kept, 2);

  expect([...kept.keys()]).toEqual(["c", "d"]);
});

test("a set that is not full is left as it is", () => {
  const kept = new Set(["a", "b"]);

  evictOldest(kept, 2);

  expect([...kept]).toEqual(["a", "b"]);
});
