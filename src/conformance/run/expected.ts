import type { Verdict } from "./run-suites.ts";

/** The result of a run. */
export interface Summary {
  readonly verdicts: readonly Verdict[];
  /** The ids of checks that are expected to fail. */
  readonly expected: readonly string[];
  /** Expected ids that did not fail or do not exist. They must be removed from the file of expected failures. */
  readonly stale: readonly string[];
  /** 0: every MUST holds. 1: a MUST fails unexpectedly, or an id is stale. 3: the kit failed, so nothing is proven. */
  readonly status: 0 | 1 | 3;
}

/** Parses a file of expected failures: one id per line, with the reason after `#`. */
export function parseExpected(text: string): string[] {
  return text.split("\n").flatMap((line) => line.replace(/#.*/, "").trim() || []);
}

/** @param expected the ids of checks that are known to fail. If such a check passes, its id is stale. */
export function summarize(verdicts: readonly Verdict[], expected: readonly string[]): Summary {
  const failed = verdicts.filter(({ outcome }) => outcome === "failed");
  const stale = expected.filter((id) => !failed.some((verdict) => verdict.id === id));
  const isUnexpected = ({ id, level }: Verdict) => level === "MUST" && !expected.includes(id);
  const isKitAtFault = verdicts.some(({ outcome }) => outcome === "kit");
  const status = isKitAtFault ? 3 : failed.some(isUnexpected) || stale.length > 0 ? 1 : 0;
  return { verdicts, expected, stale, status };
}
