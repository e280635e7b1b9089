import { expect, test } from "vitest";
import { heardTo } from "../../web/src/voice/heard-to.ts";

const TEXT = "It is late. Shall we\ngo on, or\nshall we stop?";
const second = { sentenceAt: 12, saidTo: TEXT.length };
const heard = (caption: string) => TEXT.slice(0, heardTo(TEXT, second, caption));

test("a sentence has been heard as far as its caption goes", () => {
  expect(heard("It is late. Shall we")).toBe("It is late. Shall we");
  expect(heard("It is late. Shall we go on, or shall")).toBe("It is late. Shall we\ngo on, or\nshall");
  expect(heard("It is late. Shall we go on, or shall we stop?")).toBe(TEXT);
});

test("nothing of a sentence has been heard before its first word", () => {
  expect(heard("It is late.")).toBe("It is late. ");
});

test("without captions, a sentence counts as heard when it begins", () => {
  expect(heard("")).toBe(TEXT);
});
