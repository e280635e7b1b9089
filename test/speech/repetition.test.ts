import { expect, test } from "vitest";
import { repeatedTokens } from "../../src/speech/listen/repetition.ts";

const times = (count: number, ...group: number[]) => Array.from({ length: count }, () => group).flat();

test("a token that occurs five times in a row is a loop, of which one is kept", () => {
  expect(repeatedTokens([7, ...times(5, 3)])).toBe(4);
});

test("a group of tokens that occurs five times in a row is a loop", () => {
  expect(repeatedTokens([7, 8, ...times(5, 3, 4, 5)])).toBe(12);
  expect(repeatedTokens(times(5, 1, 2, 3, 4, 5, 6, 7, 8))).toBe(32);
});

test.each([
  ["a digit that is said four times", [7, ...times(4, 3)]],
  ["a phrase of more than eight tokens", times(6, 1, 2, 3, 4, 5, 6, 7, 8, 9)],
  ["a group that changes", [...times(4, 3, 4), 3, 5]],
  ["no tokens", []],
])("%s is not a loop", (_, tokens) => {
  expect(repeatedTokens(tokens)).toBe(0);
});
