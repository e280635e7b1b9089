/**
 * The number of cases that a property test tries: `PROPERTY_RUNS`, or else `usual`, which fits into every run of the
 * suite.
 */
export function propertyRuns(usual: number): number {
  return Number(process.env["PROPERTY_RUNS"] ?? usual);
}

/** The seed for the cases: `PROPERTY_SEED`, or else always the same one. */
export function propertySeed(usual = 1): number {
  return Number(process.env["PROPERTY_SEED"] ?? usual);
}
