import type { ArmName } from "../arms/arm.ts";
import { type FigureName, type Figures, RATIOS, type RatioFigure } from "./figures.ts";
import { median, quantile } from "./stats.ts";

/** All measured values, by figure, arm and round. */
export class Samples {
  readonly #values: Partial<Record<FigureName, Partial<Record<ArmName, number[][]>>>> = {};

  add(figure: FigureName, arm: ArmName, { round, values }: { round: number; values: readonly number[] }): void {
    if (values.length === 0) return;
    const rounds = ((this.#values[figure] ??= {})[arm] ??= []);
    (rounds[round] ??= []).push(...values);
  }

  toFigures(): Figures {
    const figureOf = (rounds: readonly number[][]) => {
      const values = rounds.flat();
      const [p50, p95] = [rounded(median(values)), rounded(quantile(values, 0.95))];
      return { count: values.length, p50, p95, rounds: rounds.map((round) => rounded(median(round))) };
    };
    const entries = Object.entries(this.#values).map(([figure, arms]) => [
      figure,
      Object.fromEntries(Object.entries(arms).map(([arm, rounds]) => [arm, figureOf(rounds)])),
    ]);
    return Object.fromEntries(entries) as Figures;
  }
}

/**
 * Returns the ratios for which both figures were measured. If one figure has more rounds than the other, the additional
 * rounds are ignored.
 */
export function toRatios(figures: Figures): RatioFigure[] {
  return RATIOS.flatMap((ratio) => {
    const [of, to] = [ratio.of, ratio.to].map(([figure, arm]) => figures[figure]?.[arm]?.rounds);
    const ratios = of?.flatMap((value, round) => (to?.[round] === undefined ? [] : [value / to[round]])) ?? [];
    if (ratios.length === 0) return [];
    const [value, low, high] = [median(ratios), Math.min(...ratios), Math.max(...ratios)].map((each) => rounded(each));
    return [{ ...ratio, value: value ?? 0, low: low ?? 0, high: high ?? 0 }];
  });
}

function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
