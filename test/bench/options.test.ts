import { expect, test } from "vitest";
import { parseBenchOptions } from "../../bench/options.ts";

test("all works are measured with all arms, unless some are named", () => {
  expect(parseBenchOptions([])?.works).toContain("answers");
  expect(parseBenchOptions(["--only", "burst,spans", "--arms", "parley"])).toMatchObject({
    works: ["burst", "spans"],
    arms: ["parley"],
  });
});

test("the turns of a long talk can be given for a quick run, too", () => {
  expect(parseBenchOptions(["--quick", "--turns", "300"])?.extent).toMatchObject({ rounds: 3, turns: 300 });
});

test.each([
  [["--only", "answer"], /^--only: expected answers, .*, got answer$/],
  [["--arms", "pipecat"], /^--arms: expected parley, .*, got pipecat$/],
  [["--turns", "0"], "--turns: expected a whole number from 1 to 100000, got 0"],
])("%s is refused with what would be right", (args, message) => {
  expect(() => parseBenchOptions(args)).toThrow(message);
});
