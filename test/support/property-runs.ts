/** How many cases a property test tries: `PROPERTY_RUNS`, else as many as every run of the suite has time for. */
export function propertyRuns(usual: number): number {
  return Number(process.env["PROPERTY_RUNS"] ?? usual);
}

/** Which cases: `PROPERTY_SEED`, else always the same. */
export function propertySeed(usual = 1): number {
  return Number(process.env["PROPERTY_SEED"] ?? usual);
}
