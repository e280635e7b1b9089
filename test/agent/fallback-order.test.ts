import { expect, test } from "vitest";
import { FallbackOrder } from "../../src/agent/fallback-order.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

test("an entry that has failed is tried last for 30 seconds", () => {
  using clock = new VirtualClock();
  const order = new FallbackOrder(["a", "b", "c"]);

  order.markFailed("a");
  const atOnce = order.current;
  clock.now += 29_999;
  const before = order.current;
  clock.now += 1;

  expect([atOnce, before, order.current]).toEqual([
    ["b", "c", "a"],
    ["b", "c", "a"],
    ["a", "b", "c"],
  ]);
});

test("if all entries have failed, they are tried in the order of the list", () => {
  const order = new FallbackOrder(["a", "b"]);
  order.markFailed("b");
  const one = order.hasReady;
  order.markFailed("a");

  expect([one, order.hasReady, order.current]).toEqual([true, false, ["a", "b"]]);
});
