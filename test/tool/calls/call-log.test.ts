import { expect, test } from "vitest";
import { CALL_LOG, CallLog } from "../../../src/tool/calls/call-log.ts";

const FULL = "[more lines were not kept]";

test("a text with line breaks is several lines", () => {
  const log = new CallLog();

  expect(log.add("one\ntwo\r\nthree")).toBe(true);

  expect(log.lines).toEqual(["one", "two", "three"]);
});

test("a long line is truncated between characters, and says so", () => {
  const log = new CallLog();

  log.add("é".repeat(5_000));

  const [line = ""] = log.lines;
  expect(Buffer.byteLength(line)).toBeLessThanOrEqual(CALL_LOG.lineBytes);
  expect(line).toMatch(/^é{2000,}… \[cut\]$/);
});

test("the first thousand lines are kept, and the last one says that there were more", () => {
  const log = new CallLog();

  for (let index = 0; index < 1_500; index++) log.add(`line ${index}`);

  expect(log.lines).toHaveLength(CALL_LOG.lines);
  expect(log.lines.slice(-2)).toEqual(["line 998", FULL]);
  expect(log.add("late")).toBe(false);
});

test("all lines together have a limit, too", () => {
  const log = new CallLog();

  for (let index = 0; index < 100; index++) log.add("x".repeat(2_000));

  const bytes = log.lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
  expect(bytes).toBeLessThanOrEqual(CALL_LOG.bytes + FULL.length);
  expect(log.lines.at(-1)).toBe(FULL);
});

test("an earlier worker's log is continued, and stays full if it was", () => {
  const kept = new CallLog(["one"]);
  kept.add("two");
  const full = new CallLog(["one", FULL]);

  expect(kept.lines).toEqual(["one", "two"]);
  expect(full.add("two")).toBe(false);
});

test("what PostgreSQL cannot store is replaced", () => {
  const log = new CallLog();

  log.add("a\0b\ud800");

  expect(log.lines).toEqual(["a\uFFFDb\uFFFD"]);
});
