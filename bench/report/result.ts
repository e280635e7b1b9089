import type { Profile } from "../works/profile.ts";
import type { Extent } from "../works/work.ts";
import type { Figures, RatioFigure } from "./figures.ts";

/** One run, as written to bench/results/. */
export interface Result {
  /** ISO 8601 */
  readonly at: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly memoryGb: number;
    /** The one-minute load average before the run. 0 on an idle machine. */
    readonly loadBefore: number;
  };
  readonly versions: Readonly<Record<string, string>>;
  readonly extent: Extent;
  readonly figures: Figures;
  readonly ratios: readonly RatioFigure[];
  /** The CPU time of the session's process per turn, in ms, by module and by function. `undefined` if not measured. */
  readonly profile: Profile | undefined;
  /** Sizes in kB, by title. */
  readonly bundles: Readonly<Record<string, number>>;
}
