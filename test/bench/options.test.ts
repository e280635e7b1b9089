import { expect, test } from "vitest";
import { parseBenchOptions } from "../../bench/options.ts";

test("all workloads are measured with all arms, unless some are selected", () => {
  expect(parseBenchOptions([])?.works).toContain("answers");
  expect(parseBenchOptions(["--only", "burst,spans", "--arms", "parley"])).toMatchObject({
    works: ["burst", "spans"],
    arms: ["parley"],
  });
});

test("a quick run can set the number of turns in the long session", () => {
  expect(parseBenchOptions(["--quick", "--turns", "300"])?.extent).toMatchObject({ rounds: 3, turns: 300 });
});

test.each([
  [["--only", "answer"], /^--only: expected answers, .*, got answer$/],
  [["--arms", "pipecat"], /^--arms: expected parley, .*, got pipecat$/],
  [["--turns", "0"], "--turns: expected a whole number from 1 to 100000, got 0"],
])("%s is refused, and the error lists the valid values", (args, message) => {
  expect(() => parseBenchOptions(args)).toThrow(message);
});
