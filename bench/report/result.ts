import type { Profile } from "../works/profile.ts";
import type { Extent } from "../works/work.ts";
import type { Figures, RatioFigure } from "./figures.ts";

/** One run, as it is written to bench/results/. */
export interface Result {
  /** ISO 8601 */
  readonly at: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGb: number;
    /** The mean number of programs that wanted to compute in the minute before the run: 0 on a quiet machine. */
    readonly loadBefore: number;
  };
  readonly versions: Readonly<Record<string, string>>;
  readonly extent: Extent;
  readonly figures: Figures;
  readonly ratios: readonly RatioFigure[];
  /** What the session's process computes in a turn, if it was measured: ms by module and by function. */
  readonly profile: Profile | undefined;
  /** kB by title. */
  readonly bundles: Readonly<Record<string, number>>;
}
