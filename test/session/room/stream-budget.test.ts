import { expect, test } from "vitest";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { StreamBudget } from "../../../src/session/room/stream-budget.ts";

test("a sender has so many streams at once, and others have theirs", () => {
  const budget = new StreamBudget();
  const open = Array.from({ length: LIMITS.openStreams }, () => budget.open("anna"));
  expect(open).not.toContain(undefined);
  expect(budget.open("anna")).toBeUndefined();
  expect(budget.open("bob")).toBeDefined();
  open[0]?.close();
  expect(budget.open("anna")).toBeDefined();
});

test("what a sender's streams hold is counted together, and given back when one ends", () => {
  const budget = new StreamBudget();
  const [first, second] = [budget.open("anna"), budget.open("anna")];
  expect(first?.take(LIMITS.openStreamBytes - 1)).toBe(true);
  expect(second?.take(1)).toBe(true);
  expect(second?.take(1)).toBe(false);
  first?.close();
  expect(second?.take(1)).toBe(true);
});

test("a sender that comes back owes nothing for streams that broke off with its line", () => {
  const budget = new StreamBudget();
  const broken = Array.from({ length: LIMITS.openStreams }, () => budget.open("anna"));
  budget.forget("anna");
  const fresh = budget.open("anna");
  expect(fresh?.take(1)).toBe(true);
  for (const stream of broken) stream?.close();
  expect(budget.open("anna")).toBeDefined();
});
