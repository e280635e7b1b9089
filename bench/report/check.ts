import type { RatioFigure } from "./figures.ts";
import { toTitle } from "./tables.ts";

/**
 * Describes the ratios that have become worse by more than noise. A ratio counts if its new value is above the recorded
 * band and its recorded value is below the new band.
 */
export function findWorse(now: readonly RatioFigure[], recorded: readonly RatioFigure[]): string[] {
  return now.flatMap((ratio) => {
    const before = recorded.find((each) => toTitle(each) === toTitle(ratio));
    if (!before || ratio.value <= before.high || before.value >= ratio.low) return [];
    const band = ({ value, low, high }: RatioFigure) => `${value.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;
    return [`${toTitle(ratio)}: ${band(ratio)}, recorded ${band(before)}`];
  });
}
