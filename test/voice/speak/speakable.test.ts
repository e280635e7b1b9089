import { expect, test } from "vitest";
import { toSpeakable } from "../../../src/voice/speak/speakable.ts";

const speak = (text: string, language?: string) => toSpeakable(text, { language, pronounce: {} });

test.each([
  ["21 * 2 is 42.", "21 times 2 is 42."],
  ["(3 + 4) / 2 = 3.5", "(3 plus 4) divided by 2 equals 3.5"],
  ["That costs $24.50.", "That costs 24 dollars and 50 cents."],
  ["It is $1, or £3.01 in London.", "It is 1 dollar, or 3 pounds and 1 penny in London."],
  ["They raised $2.5 million, or €1,200 each.", "They raised 2.5 million dollars, or 1,200 euros each."],
  ["It is 100% sure, at 17 °C.", "It is 100 percent sure, at 17 degrees Celsius."],
  ["On 2026-11-07 at 9:30, gate #12.", "On November 7, 2026 at 9:30, gate number 12."],
  ["See https://www.example.com/docs/voice.", "See example dot com slash docs slash voice."],
  ["See https://example.com/a?id=8f3c&x=1 (new).", "See example dot com (new)."],
  ["Write to ann.lee@example.co.uk.", "Write to ann dot lee at example dot co dot uk."],
  [
    "Tea, e.g. green & black, for ~5 people, 3–4 cups.",
    "Tea, for example green and black, for about 5 people, 3 to 4 cups.",
  ],
])("«%s» is read as «%s»", (text, spoken) => {
  expect(speak(text)).toBe(spoken);
});

test.each([
  "A well-known, state-of-the-art list - and more.",
  "Use and/or, R&D, C++ and 24/7.",
  "Call 0301 234-567 before 9:30 am.",
  "It is #great.",
])("«%s» is read as it is written", (text) => {
  expect(speak(text)).toBe(text);
});

test("another language keeps its own signs, and an address loses its scheme", () => {
  expect(speak("Das kostet 5 €: https://www.beispiel.de.", "de-DE")).toBe("Das kostet 5 €: beispiel.de.");
});

test("an author's pronunciations apply to whole words, in any language", () => {
  const pronounce = { Parley: "par-lee", "C++": "see plus plus" };

  expect(toSpeakable("Parley's parleys: Parley, in C++.", { language: undefined, pronounce })).toBe(
    "par-lee's parleys: par-lee, in see plus plus.",
  );
  expect(toSpeakable("Parley spricht.", { language: "de", pronounce })).toBe("par-lee spricht.");
});

test("a long text without spaces takes no time", () => {
  const startedAt = performance.now();
  speak(`${"a.".repeat(5_000)} ${"9".repeat(10_000)} ${"https://".repeat(1_000)} ${"$1,".repeat(3_000)}`);

  expect(performance.now() - startedAt).toBeLessThan(200);
});
