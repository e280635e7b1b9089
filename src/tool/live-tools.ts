/** Tells of tools that come and go while sessions run. */
export interface LiveTools {
  /** The names of all that may come begin with one of these. */
  readonly prefixes: readonly string[];
  /** Calls back when there are others than before. The returned function ends that. */
  readonly onChanged: (listener: () => void) => () => void;
}
