import fc from "fast-check";
import { expect, test } from "vitest";
import { truncateText } from "../../src/lib/truncate-text.ts";
import { failure, success, timedOut, toModelAnswer, toResultMap } from "../../src/tool/outcome.ts";

const limits = { timeoutMs: 1_500, maxBytes: 100 };

test.each([
  ["a map", success({ answer: 4 }), '{"answer":4}'],
  ["a wrapped text", success({ value: "four" }), "four"],
  ["a wrapped number", success({ value: 4 }), "4"],
  ["a wrapped null", success({ value: null }), "null"],
  ["nothing", success({}), "{}"],
  ["an empty text", success({ value: "" }), ""],
])("%s is reported unchanged", (_, outcome, content) => {
  expect(toModelAnswer(outcome, limits)).toEqual({ content, isError: false });
});

test.each([
  ["its message", failure("execution_error", "It broke"), "It broke"],
  ["its code where it has no message", failure("paper_jam", ""), "paper_jam"],
  ["the words of spec/003 for a timeout", timedOut(1_500), "Tool execution timed out after 1.5s"],
  ["a partial result too", { ...failure("x", "Half"), result: { pages: 2 } }, 'Half\nPartial result: {"pages":2}'],
  ["no empty partial result", { ...failure("x", "Half"), result: {} }, "Half"],
])("an error contains %s", (_, outcome, content) => {
  expect(toModelAnswer(outcome, limits)).toEqual({ content, isError: true });
});

test("only a cancel makes a cancelled call", () => {
  expect([failure("cancelled", "").state, failure("timeout", "").state]).toEqual(["cancelled", "error"]);
});

test.each([
  [undefined, {}],
  [null, {}],
  ["x", { value: "x" }],
  [0, { value: 0 }],
  [[1], { value: [1] }],
  [{ a: 1 }, { a: 1 }],
])("a tool's %j becomes %j", (value, map) => {
  expect(toResultMap(value)).toEqual(map);
});

test("a text is truncated only between characters, and says so", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.nat(80), (text, maxBytes) => {
      const bytes = Buffer.byteLength(text);
      const mark = bytes > maxBytes ? `\n[truncated: ${bytes} bytes, the first ${maxBytes} are shown]` : "";
      const cut = truncateText(text, maxBytes);
      const kept = cut.slice(0, cut.length - mark.length);

      expect(cut).toBe(kept + mark);
      expect(text.startsWith(kept)).toBe(true);
      expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(maxBytes);
      expect(mark !== "" || kept === text).toBe(true);
    }),
    { seed: 1, numRuns: 5_000 },
  );
});
