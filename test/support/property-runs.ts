/**
 * How many cases a property test tries: `PROPERTY_RUNS`, or else `usual`, which is few enough for every run of the
 * suite.
 */
export function propertyRuns(usual: number): number {
  return Number(process.env["PROPERTY_RUNS"] ?? usual);
}

/** The seed for the cases: `PROPERTY_SEED`, or else `usual`, with which the cases are always the same. */
export function propertySeed(usual = 1): number {
  return Number(process.env["PROPERTY_SEED"] ?? usual);
}
