import { expect, test } from "vitest";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { StreamBudget } from "../../../src/session/room/stream-budget.ts";

test("each sender has a number of streams at once, independent of others", () => {
  const budget = new StreamBudget();
  const open = Array.from({ length: LIMITS.openStreams }, () => budget.open("anna"));
  expect(open).not.toContain(undefined);
  expect(budget.open("anna")).toBeUndefined();
  expect(budget.open("bob")).toBeDefined();
  open[0]?.close();
  expect(budget.open("anna")).toBeDefined();
});

test("the bytes in a sender's streams are counted together, and released when a stream ends", () => {
  const budget = new StreamBudget();
  const [first, second] = [budget.open("anna"), budget.open("anna")];
  expect(first?.take(LIMITS.openStreamBytes / 2)).toBe(true);
  expect(second?.take(LIMITS.openStreamBytes / 2 - 1_000)).toBe(true);
  expect(second?.take(1_000)).toBe(false);
  first?.close();
  expect(second?.take(1_000)).toBe(true);
});

test("a stream in pieces of one byte holds far fewer pieces than the byte limit would allow", () => {
  const stream = new StreamBudget().open("anna");
  let pieces = 0;
  while (stream?.take(1) === true) pieces += 1;
  expect(pieces).toBeLessThan(LIMITS.openStreamBytes / 200);
});

test("a sender that comes back owes nothing for streams that broke off with its connection", () => {
  const budget = new StreamBudget();
  const broken = Array.from({ length: LIMITS.openStreams }, () => budget.open("anna"));
  budget.forget("anna");
  const fresh = budget.open("anna");
  expect(fresh?.take(1)).toBe(true);
  for (const stream of broken) stream?.close();
  expect(budget.open("anna")).toBeDefined();
});
