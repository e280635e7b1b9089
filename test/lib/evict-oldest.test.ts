import { expect, test } from "vitest";
import { evictOldest } from "../../src/lib/evict-oldest.ts";

test("the oldest entry is removed first, whether or not it was read", () => {
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

test("a set that is not full is left unchanged", () => {
  const kept = new Set(["a", "b"]);

  evictOldest(kept, 2);

  expect([...kept]).toEqual(["a", "b"]);
});
