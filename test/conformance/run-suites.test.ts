import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Check, Suite } from "../../src/conformance/check.ts";
import { runSuites } from "../../src/conformance/run/run-suites.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = () => new Promise<never>(() => {});
const check = (id: string, run: () => Promise<void>): Check<AsyncDisposable> => ({
  id,
  level: "MUST",
  sentence: "",
  run,
});
const suite = (options: Partial<Suite<AsyncDisposable>>): Suite<AsyncDisposable> => ({
  name: "calls",
  open: async () => ({ [Symbol.asyncDispose]: async () => {} }),
  checks: [check("one", async () => {}), check("two", async () => {})],
  ...options,
});

async function outcomes(options: Partial<Suite<AsyncDisposable>>): Promise<(string | undefined)[]> {
  const verdicts = runSuites([suite(options)]);
  await vi.advanceTimersByTimeAsync(120_000);
  return (await verdicts).map(({ id, outcome, reason = "" }) => `${id} ${outcome} ${reason}`.trim());
}

test("a check that never ends is the kit's fault, and the next one runs in a new room", async () => {
  expect(await outcomes({ checks: [check("one", never), check("two", async () => {})] })).toEqual([
    "one kit one did not finish within 30 s",
    "two passed",
  ]);
});

test("a check that fails because of the kit runs once more, in a new room", async () => {
  let runs = 0;
  let rooms = 0;
  const open = async () => {
    rooms++;
    return { [Symbol.asyncDispose]: async () => {} };
  };
  const hangsOnce = check("one", async () => void (++runs === 1 && (await never())));

  expect(await outcomes({ open, checks: [hangsOnce, check("two", async () => {})] })).toEqual([
    "one passed",
    "two passed",
  ]);
  expect(rooms).toBe(2);
});

test("a room that cannot be opened fails its checks as the kit's fault", async () => {
  expect(await outcomes({ open: never })).toEqual([
    'one kit Opening a room for "calls" did not finish within 30 s',
    'two kit Opening a room for "calls" did not finish within 30 s',
  ]);
});

test.each([
  ["never closes", never],
  ["fails to close", () => Promise.reject(new Error("No"))],
])("a room that %s does not delay the verdicts", async (_, dispose) => {
  expect(await outcomes({ open: async () => ({ [Symbol.asyncDispose]: dispose }) })).toEqual([
    "one passed",
    "two passed",
  ]);
});
