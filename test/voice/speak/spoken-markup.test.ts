import { expect, test } from "vitest";
import { SentenceCutter } from "../../../src/session/answer/cut-sentences.ts";
import { SpokenMarkup } from "../../../src/voice/speak/spoken-markup.ts";

/** The parts of a text that are spoken. */
async function spokenPartsOf(text: string, language = "en"): Promise<string[]> {
  const markup = new SpokenMarkup(language);
  const cutter = new SentenceCutter(language);
  const words: string[] = [];
  for (const piece of [...cutter.write(text), cutter.end()]) words.push(await markup.write(piece));
  words.push(await markup.end());
  return words.filter(Boolean);
}

test("a table is read row by row, each cell after its column name", async () => {
  const text = "Our plans:\n\n| Plan | Price |\n|:---|---:|\n| Small | **$5.** A month |\n| Large | |\n\nWhich one?";
  expect(await spokenPartsOf(text)).toEqual([
    "Our plans:",
    "Plan: Small, Price: $5. A month.",
    "Plan: Large.",
    "Which one?",
  ]);
});

test("rows without column names are read as they are", async () => {
  expect(await spokenPartsOf("| a | b |\n| c | d |\nDone.")).toEqual(["a, b.\nc, d.", "Done."]);
  expect(await spokenPartsOf("| a | b |")).toEqual(["a, b."]);
});

test("a table whose rows start without a vertical bar is read in the same way", async () => {
  const text = "Our plans:\n\nPlan | Price\n--- | :---:\nSmall | $5. A month\nLarge |\n\nWhich one?";
  expect(await spokenPartsOf(text)).toEqual([
    "Our plans:",
    "Plan: Small, Price: $5. A month.",
    "Plan: Large.",
    "Which one?",
  ]);
});

test("a line with a vertical bar that starts no table is read", async () => {
  expect(await spokenPartsOf("Either this | or that.\nThe end | of it.")).toEqual([
    "Either this | or that.\nThe end | of it.",
  ]);
  expect(await spokenPartsOf("This | or that\n")).toEqual(["This | or that"]);
});

test.each([
  ["a list", "1. Run:\n\n    ```sh\n    npm i | x\n    ```\n2. Done.", ["1. Run:", "Here is some code.", "2. Done."]],
  ["a list's first line", "- ```sh\n  npm i\n  ```\n- Done.", ["Here is some code.", "Done."]],
  ["a quote", "> ```\n> code();\n> ```\nDone.", ["Here is some code.", "Done."]],
])("code in %s is mentioned, and the text after it is read", async (_, text, words) => {
  expect(await spokenPartsOf(text)).toEqual(words);
});

test("a table in a list is read row by row", async () => {
  expect(await spokenPartsOf("- Plans\n\n      | a | b |\n      |---|---|\n      | 1 | 2 |\n- Done.")).toEqual([
    "Plans",
    "a: 1, b: 2.",
    "Done.",
  ]);
});

test.each([
  ["en", "Here is some code."],
  ["de-DE", "Hier steht Code."],
  ["tlh", "Here is some code."],
])("in %s, code is mentioned and not read", async (language, mention) => {
  const text = "Try this:\n```js\nconst a = b | c;\n| d |\nlog(a). B\n```\nThat's it.";
  expect(await spokenPartsOf(text, language)).toEqual(["Try this:", mention, "That's it."]);
});

test("other marks and emoji are not read", async () => {
  expect(await spokenPartsOf("## Title\n- **Bold** and `code`.\n🎉")).toEqual(["Title", "Bold and code."]);
});
