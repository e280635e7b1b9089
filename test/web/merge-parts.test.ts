import { expect, test } from "vitest";
import { mergeParts } from "../../web/src/talk/message/merge-parts.ts";

const STORED = [
  { type: "text", text: "I look." },
  { type: "tool", toolUseId: "first", name: "look" },
  { type: "text", text: "Nothing there. I ask. One moment." },
  { type: "tool", toolUseId: "second", name: "ask_user" },
] as const;
const call = (toolUseId: string) => ({ kind: "call", sequence: -1, toolUseId }) as const;

test("if the page has seen nothing of an answer, all of it is shown", () => {
  expect(mergeParts(STORED, [])).toEqual(STORED);
});

test("calls and texts that the page has already seen are shown once, in their places", () => {
  const text = { kind: "text", sequence: 2, text: STORED[2].text, saidTo: 0 } as const;
  const first = call("first");

  expect(mergeParts(STORED, [text, first])).toEqual([STORED[0], first, text, STORED[3]]);
});

test("parts that the page has seen and the record lacked come last", () => {
  const later = { kind: "text", sequence: 4, text: "Done.", saidTo: 0 } as const;

  expect(mergeParts(STORED, [call("second"), later])).toEqual([...STORED.slice(0, 3), call("second"), later]);
});

test("if the page has received a text's last sentences, its beginning is shown before them", () => {
  const seen = ["I ask.", "One moment."].map((text) => ({ kind: "aside", text }) as const);

  expect(mergeParts(STORED, [call("second"), ...seen])).toEqual([
    ...STORED.slice(0, 2),
    { type: "text", text: "Nothing there. " },
    ...seen,
    call("second"),
  ]);
});
