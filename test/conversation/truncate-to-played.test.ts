import { expect, test } from "vitest";
import type { TurnBlock } from "../../src/conversation/block.ts";
import { dropLetters, truncateToPlayed, takeLetters } from "../../src/conversation/truncate-to-played.ts";
import { buildHistory } from "../../src/conversation/history.ts";

const text = (sequence: number, textContent: string): TurnBlock => ({
  sequence,
  blockType: "text",
  textContent,
  content: null,
});
const use: TurnBlock = {
  sequence: 1,
  blockType: "tool_use",
  textContent: null,
  content: { tool_use_id: "toolu_1", tool_name: "look", input: {} },
};
const result: TurnBlock = {
  sequence: 2,
  blockType: "tool_result",
  textContent: null,
  content: { tool_use_id: "toolu_1", content: "found" },
};

test("text is kept as far as it was heard, whatever happened to its blanks", () => {
  const blocks = truncateToPlayed(
    [text(0, "Let me  see."), use, result, text(3, "It is ten past two.")],
    "Let me see.It is",
  );
  expect(blocks.map(({ textContent }) => textContent)).toEqual(["Let me  see.", null, null, "It is"]);
});

test("the model is shown what was heard, and that the rest was not", () => {
  const turn = {
    id: "t",
    position: 1,
    participantIdentity: "user",
    parentMessageId: "m",
    messageId: "a",
    input: [{ type: "text", text: "Tell me." }],
    state: "interrupted",
    blocks: [text(0, "One two three four.")],
    heard: "One two",
  } as const;
  const said = buildHistory([turn]).flatMap(({ role, blocks }) =>
    blocks.map(({ textContent }) => `${role}: ${textContent}`),
  );
  expect(said.slice(0, 2)).toEqual(["user: Tell me.", "assistant: One two"]);
  expect(said[2]).toMatch(/interrupted/);
});

test("keeping and dropping letters split a text in two", () => {
  expect([takeLetters("Grüße an dich", 7), dropLetters("Grüße an dich", 7)]).toEqual(["Grüße an", "dich"]);
  expect([takeLetters("ab", 5), dropLetters("ab", 5)]).toEqual(["ab", ""]);
  expect(takeLetters("a😀b", 2)).toBe("a");
});
