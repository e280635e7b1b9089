import { expect, test } from "vitest";
import { alignWords } from "../../../src/voice/speak/align-words.ts";

/** Returns where each written word ends in the spoken text, as a count of the letters up to there. */
const align = (written: string, spoken: string) => alignWords(written.split(" "), spoken.split(" "));

test("words that are spoken as they are written end where they end", () => {
  expect(align("One **two** three.", "One two three.")).toEqual([3, 6, 11]);
});

test("a word that is spoken as several ends with the last of them", () => {
  expect(align("Pay $24.50 now.", "Pay 24 dollars and 50 cents now.")).toEqual([3, 22, 25]);
  expect(align("See https://a.com/docs for more.", "See a dot com slash docs for more.")).toEqual([3, 19, 22, 26]);
});

test("signs that are not spoken end with the word before them", () => {
  expect(align("| Small | $5 |", "Small, 5 dollars.")).toEqual([0, 5, 5, 13, 13]);
});

test("words before and after a match share the letters there", () => {
  expect(align("ab cd same ef", "abcdefgh same ij")).toEqual([4, 8, 12, 14]);
});

test("texts without a common word share all letters", () => {
  expect(align("ab ab", "12345678")).toEqual([4, 8]);
  expect(align("ab", "")).toEqual([0]);
});
