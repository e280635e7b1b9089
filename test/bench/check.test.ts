import { expect, test } from "vitest";
import { findWorse } from "../../bench/report/check.ts";
import type { RatioFigure } from "../../bench/report/figures.ts";
import { Samples, toRatios } from "../../bench/report/samples.ts";

const answers = { of: ["answer", "parley"], to: ["answer", "agents-js"] } as const;
const ratio = (value: number, low: number, high: number): RatioFigure => ({ ...answers, value, low, high });

test("a ratio is the median of all rounds' ratios, each between two medians of one round", () => {
  const samples = new Samples();
  for (const [round, [own, other]] of [[2, 10] as const, [3, 10] as const, [80, 100] as const].entries()) {
    samples.add("answer", "parley", { round, values: [1, own, 1_000] });
    samples.add("answer", "agents-js", { round, values: [other] });
  }

  expect(toRatios(samples.toFigures())).toEqual([ratio(0.3, 0.2, 0.8)]);
});

test("a ratio is worse when the new and the recorded ratio are each outside the other's band", () => {
  const recorded = [ratio(0.5, 0.45, 0.55)];

  expect(findWorse([ratio(0.7, 0.6, 0.8)], recorded)).toHaveLength(1);
});

test.each([
  ["inside of the recorded band", ratio(0.54, 0.53, 0.6)],
  ["of so noisy a run that the recorded one is inside of its band", ratio(0.7, 0.4, 0.9)],
  ["better than recorded", ratio(0.3, 0.25, 0.35)],
])("a ratio is not worse when it is %s", (_, now) => {
  expect(findWorse([now], [ratio(0.5, 0.45, 0.55)])).toEqual([]);
});
