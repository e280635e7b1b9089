import { expect, test } from "vitest";
import { partsBefore } from "../../web/src/talk/parts-before.ts";

const STORED = [
  { type: "text", text: "I look." },
  { type: "tool", toolUseId: "first", name: "look" },
  { type: "text", text: "Nothing there. I ask. One moment." },
  { type: "tool", toolUseId: "second", name: "ask_user" },
] as const;
const call = (toolUseId: string) => ({ kind: "call", sequence: -1, toolUseId }) as const;

test("of an answer that the page has seen nothing of, all is shown", () => {
  expect(partsBefore(STORED, [])).toEqual(STORED);
});

test("calls and texts that the page has seen are not shown twice", () => {
  const seen = [{ kind: "text", sequence: 2, text: STORED[2].text, saidTo: 0 }, call("second")] as const;

  expect(partsBefore(STORED, seen)).toEqual(STORED.slice(0, 2));
});

test("of a text whose last sentences the page has heard, its beginning is shown", () => {
  const seen = ["I ask.", "One moment."].map((text) => ({ kind: "aside", text }) as const);

  expect(partsBefore(STORED, [...seen, call("second")])).toEqual([
    ...STORED.slice(0, 2),
    { type: "text", text: "Nothing there. " },
  ]);
});
