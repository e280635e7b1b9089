import fc from "fast-check";
import { expect, test } from "vitest";
import { SpokenPieces } from "../../../src/session/answer/first-clause.ts";
import { propertyRuns, propertySeed } from "../../support/property-runs.ts";

/** The pieces that the voice receives of a text that is written word by word. */
function piecesOf(text: string, language = "en"): string[] {
  const pieces = new SpokenPieces(language);
  const written = (text.match(/\s*\S+/gu) ?? []).flatMap((word) => pieces.write(word));
  return [...written, pieces.end()].filter(Boolean);
}

test.each([
  ["The shop is open today, and it closes at six.", "The shop is open today, "],
  ["There is one thing missing: the sugar. Shall I?", "There is one thing missing: "],
  ["I looked it up — it is open.", "I looked it up — "],
  ["I looked it up - it is open.", "I looked it up - "],
  ["You can walk there; it is near.", "You can walk there; "],
  ["Well, if you like, we can begin now, or later.", "Well, if you like, "],
  ["Voilà ce que je sais : il pleut.", "Voilà ce que je sais : "],
  ["هذا ما نعرفه الآن، والباقي غدا.", "هذا ما نعرفه الآن، "],
])("the voice receives the first clause of %j before the sentence is complete", (text, clause) => {
  expect(piecesOf(text)[0]).toBe(clause);
});

test.each([
  ["is too short", "Sure, I can help you with all of that."],
  ["ends with a number", "It was founded on November 7, and it grew."],
  ["would tear a date", "It all began on November 7, 2026, as we know."],
  ["would tear a large number", "That makes about all in all 1,000, 2,000 or more."],
  ["would tear a formula", "The result of it is 21 - 4 = 17."],
  ["ends with an abbreviation", "Please bring some e.g., apples or pears."],
  ["opens emphasis", "**You should first of all, before you leave, call.**"],
  ["opens a link", "See what [the shop has, as of today](https://example.com) offers."],
  ["is a row of a table", "| Plan of the shop, small | Price, in dollars |"],
])("a sentence is not cut where its clause %s", (_why, text) => {
  expect(piecesOf(text)).toEqual([text]);
});

test("only the first sentence is cut, and only once", () => {
  const pieces = ["The shop is open today, ", "as it was, and always. ", "It sells tea and cake, and more."];
  expect(piecesOf(pieces.join(""))).toEqual(pieces);
});

test("a sentence that is written at once is not cut", () => {
  const pieces = new SpokenPieces("en");
  expect(pieces.write("The shop is open today, and it closes at six.")).toEqual([]);
  expect(pieces.end()).toBe("The shop is open today, and it closes at six.");
});

test("the pieces of any text add up to the text", () => {
  const word = fc.constantFrom("tea", "cake", "3", "1,000", "Dr.", "and", "**so**", "e.g.", "–", "Élan", "it's");
  const mark = fc.constantFrom("", "", ", ", "; ", ": ", ". ", "? ", " — ", "\n");
  const text = fc.array(
    fc.tuple(word, mark).map(([said, end]) => said + (end || " ")),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 9 }), (words, size) => {
      const whole = words.join("");
      const pieces = new SpokenPieces("en");
      let all = "";
      for (let at = 0; at < whole.length; at += size) all += pieces.write(whole.slice(at, at + size)).join("");
      expect(all + pieces.end()).toBe(whole);
    }),
    { numRuns: propertyRuns(300), seed: propertySeed() },
  );
});
