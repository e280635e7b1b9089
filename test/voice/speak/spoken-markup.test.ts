import { expect, test } from "vitest";
import { SentenceCutter } from "../../../src/session/answer/cut-sentences.ts";
import { SpokenMarkup } from "../../../src/voice/speak/spoken-markup.ts";

/** What is spoken of a text. */
async function spoken(text: string, language = "en"): Promise<string[]> {
  const markup = new SpokenMarkup(language);
  const cutter = new SentenceCutter(language);
  const words: string[] = [];
  for (const piece of [...cutter.write(text), cutter.end()]) words.push(await markup.write(piece));
  words.push(await markup.end());
  return words.filter(Boolean);
}

test("a table is read row by row, each cell after its column's name", async () => {
  const text = "Our plans:\n\n| Plan | Price |\n|:---|---:|\n| Small | **$5.** A month |\n| Large | |\n\nWhich one?";
  expect(await spoken(text)).toEqual(["Our plans:", "Plan: Small, Price: $5. A month.", "Plan: Large.", "Which one?"]);
});

test("rows without column names are read as they are", async () => {
  expect(await spoken("| a | b |\n| c | d |\nDone.")).toEqual(["a, b.\nc, d.", "Done."]);
  expect(await spoken("| a | b |")).toEqual(["a, b."]);
});

test.each([
  ["en", "Here is some code."],
  ["de-DE", "Hier steht Code."],
  ["tlh", "Here is some code."],
])("in %s, code is mentioned and not read", async (language, mention) => {
  const text = "Try this:\n```js\nconst a = b | c;\n| d |\nlog(a). B\n```\nThat's it.";
  expect(await spoken(text, language)).toEqual(["Try this:", mention, "That's it."]);
});

test("of other marks and emoji nothing is read", async () => {
  expect(await spoken("## Title\n- **Bold** and `code`.\n🎉")).toEqual(["Title", "Bold and code."]);
});
