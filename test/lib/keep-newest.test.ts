import { expect, test } from "vitest";
import { keepNewest } from "../../src/lib/keep-newest.ts";

test("what was put in first goes first, whether it was read or not", () => {
  const kept = new Map([
    ["a", 1],
    ["b", 2],
    ["c", 3],
    ["d", 4],
  ]);
  kept.get("a");

  keepNewest(kept, 2);
  keepNewest(kept, 2);

  expect([...kept.keys()]).toEqual(["c", "d"]);
});

test("a set that is not full is left as it is", () => {
  const kept = new Set(["a", "b"]);

  keepNewest(kept, 2);

  expect([...kept]).toEqual(["a", "b"]);
});
