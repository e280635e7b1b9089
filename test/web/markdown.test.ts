import fc from "fast-check";
import { expect, test } from "vitest";
import { reply, slow, text } from "../../src/model-server/step.ts";
import { BlockReader } from "../../web/src/markdown/block-reader.ts";
import { forFile } from "../support/lifetimes.ts";
import { accessibilityProblems } from "./accessibility-problems.ts";
import { PageWorld, say } from "./page-world.ts";

const world = forFile(() => PageWorld.start());

const LINES = [
  ..."# Title|- a|  - b|1. x|> q|```js|```|code|\\| a \\| b \\||\\|---\\|---\\||\\| 1 \\| 2 \\|||**b** c".split(
    /(?<!\\)\|/u,
  ),
  ..."    indented|\ttab|---|===|<div>|<!--|-->|[r]: https://x.example|[r]|~~~|  goes on|- [ ] task|a  |\\|&amp;|x\r".split(
    "|",
  ),
].map((line) => line.replaceAll("\\|", "|"));

test("a text that is parsed while it grows has the same blocks as the whole text", () => {
  const anyLine = fc.constantFrom(...LINES);
  fc.assert(
    fc.property(fc.array(anyLine, { minLength: 1, maxLength: 9 }), (lines) => {
      const source = lines.join("\n");
      const growing = new BlockReader();
      for (let end = 0; end < source.length; end++) growing.read(source.slice(0, end));

      const blocks = new BlockReader().read(source);

      expect(growing.read(source)).toEqual(blocks);
      expect(blocks.map(({ token }) => token.raw).join("")).toHaveLength(source.length);
    }),
    { numRuns: 500 },
  );
});

test("finished blocks stay the same objects while the text grows", () => {
  const reader = new BlockReader();
  const [first] = reader.read("One.\n\nTwo.\n\nThree.");

  expect(reader.read("One.\n\nTwo.\n\nThree.\n\nFour.")[0]).toBe(first);
});

const HOSTILE = {
  "quotations inside one another": ">".repeat(5_000),
  "lists inside one another": `${"- ".repeat(5_000)}a`,
  "indented lists": Array.from({ length: 400 }, (_, depth) => `${"  ".repeat(depth)}- a`).join("\n"),
  "emphasis that closes nothing": "*a_".repeat(5_000),
  "links that close nothing": "**a [".repeat(4_000),
  "one long word": `${"a.".repeat(10_000)}@`,
};

test.each(Object.entries(HOSTILE))("%s are shown as written, immediately", (_, source) => {
  const begun = performance.now();
  const blocks = new BlockReader().read(source);

  expect(blocks).toEqual([{ at: 0, token: { type: "text", raw: source, text: source } }]);
  // marked takes seconds for such a text, or overflows the stack.
  expect(performance.now() - begun).toBeLessThan(200);
});

const WIDE = Array.from({ length: 20 }, (_, column) => `Column number ${column}`);
const ANSWER = `## Comparing

Both are **fast**, says [the manual](https://docs.example/a) & *so* do I: https://bare.example/b?c=1.

| ${WIDE.join(" | ")} |
|${"---|".repeat(WIDE.length)}
| ${WIDE.map(() => "1 &lt; 2").join(" | ")} |

1. First
2. Second
   - inside

\`\`\`sql
select 1 < 2;
\`\`\`

> ![A cat](https://pictures.example/cat.png)

[no](javascript:alert(1)) [own](/token) [https://good.example](https://evil.example/) <img src=x onerror=alert(1)>

The end.`;

test("an answer's headings, tables, lists, code and links are rendered, and nothing in it is fetched or run", async () => {
  const page = await world.join({ permissions: ["clipboard-read", "clipboard-write"] });
  const dialogs: string[] = [];
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  world.model.script([reply([text(ANSWER)], { ...slow(5), chunking: 20 })]);
  await say(page, "Compare them");
  const answer = page.locator(".message.assistant .text");
  await answer.getByText("The end.", { exact: true }).waitFor();
  await page.locator(".message.assistant[data-state=completed]").waitFor();

  const shown = async () => ({
    heading: await answer.getByRole("heading").allTextContents(),
    strong: await answer.locator("strong").allTextContents(),
    cells: (await answer.locator("td").allTextContents()).slice(0, 2),
    items: await answer.locator("li").count(),
    code: await answer.locator("pre code").textContent(),
    pictures: await answer.locator("img").count(),
    links: await answer
      .locator("a")
      .evaluateAll((links) => links.map((link) => [link.textContent, link.href, link.rel])),
    own: await answer.getByText("[no]").textContent(),
  });
  const safe = "noopener noreferrer";
  const expected = {
    heading: ["Comparing"],
    strong: ["fast"],
    cells: ["1 < 2", "1 < 2"],
    items: 3,
    code: "select 1 < 2;",
    pictures: 0,
    links: [
      ["the manual (docs.example)", "https://docs.example/a", safe],
      ["https://bare.example/b?c=1", "https://bare.example/b?c=1", safe],
      ["Picture: A cat (pictures.example)", "https://pictures.example/cat.png", safe],
      ["https://good.example (evil.example)", "https://evil.example/", safe],
    ],
    own: "[no](javascript:alert(1)) [own](/token) https://good.example (evil.example) <img src=x onerror=alert(1)>",
  };
  expect(await shown()).toEqual(expected);
  expect(await accessibilityProblems(page)).toEqual([]);
  await answer.getByRole("button", { name: "Copy" }).click();
  await answer.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe("select 1 < 2;");
  // Only the table itself scrolls sideways, not the page.
  const widths = await page.evaluate(
    "['.scroll', '.table'].map((name) => document.querySelector(name)).map((each) => each.scrollWidth - each.clientWidth)",
  );
  expect(widths).toEqual([0, expect.toSatisfy((over: number) => over > 500)]);

  await page.reload();
  await answer.getByText("The end.", { exact: true }).waitFor();
  expect(await shown()).toEqual(expected);
  expect(dialogs).toEqual([]);
  expect([...world.hosts]).toEqual(["127.0.0.1"]);
});

test("a person's own words are shown as typed", async () => {
  const page = await world.join();
  world.model.script([reply([text("Fine.")])]);

  await say(page, "# No **heading**");
  await page.getByText("Fine.", { exact: true }).waitFor();

  expect(await page.locator(".message.user .text").innerHTML()).toBe("# No **heading**");
});
