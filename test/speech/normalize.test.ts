import { expect, test } from "vitest";
import { cardinal, decimal, ordinal, year } from "../../src/speech/voice/text/numbers.ts";
import { splitSentences } from "../../src/speech/voice/text/sentences.ts";
import { TracedText } from "../../src/speech/voice/text/traced-text.ts";

test.each([
  [cardinal("0"), "zero"],
  [cardinal("1001"), "one thousand and one"],
  [cardinal("1234"), "one thousand, two hundred and thirty-four"],
  [ordinal("23"), "twenty-third"],
  [ordinal("101"), "one hundred and first"],
  [year("1905"), "nineteen oh-five"],
  [year("2005"), "two thousand and five"],
  [decimal("3.140"), "three point one four"],
])("%s is how the number is read aloud", (found, expected) => {
  expect(found).toBe(expected);
});

test("a sentence does not end after a title or an initial", () => {
  const text = "Ask Dr. Smith or J. K. Rowling. Then call.\nBye.";

  const sentences = splitSentences(text, new Set(["Dr"]));

  expect(sentences.map((sentence) => sentence.text)).toEqual(["Ask Dr. Smith or J. K. Rowling.", "Then call.", "Bye."]);
  expect(sentences.map(({ text: sentence, start }) => text.startsWith(sentence, start))).toEqual([true, true, true]);
});

test("a replaced word leads back to where it was written", () => {
  const traced = new TracedText("it is 5km away");

  traced.replace([/5km/g, "5 kilometers"]);

  expect(traced.text).toBe("it is 5 kilometers away");
  expect(traced.origins[traced.text.indexOf("kilometers")]).toBe(6);
  expect(traced.origins[traced.text.indexOf("away")]).toBe(10);
});
