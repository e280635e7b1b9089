import { expect, test } from "vitest";
import { isLanguageTag } from "../../src/lib/language-tag.ts";

test.each(["de", "en-GB", "zh-Hant-TW", "xx"])("%s is a language", (tag) => {
  expect(isLanguageTag(tag)).toBe(true);
});

test.each([undefined, "", "../../../../dev/zero", "-v", "en_GB", "de\n", `de-x${"-abcdefgh".repeat(10)}`])(
  "%j is not a language",
  (text) => {
    expect(isLanguageTag(text)).toBe(false);
  },
);
