import type { Summary } from "../run/expected.ts";
import type { Verdict } from "../run/run-suites.ts";

/** Returns the word that stands for a verdict in every report. */
export function wordOf({ outcome, level, id }: Verdict, { expected }: Pick<Summary, "expected">): string {
  if (outcome === "failed" && expected.includes(id)) return "expected";
  if (outcome === "failed") return level === "MUST" ? "FAILED" : "failed";
  return outcome === "kit" ? "KIT" : outcome;
}

/** Counts the verdicts by word, separately for MUST and SHOULD. */
export function toCounts(summary: Summary): string[] {
  return (["MUST", "SHOULD"] as const).map((level) => {
    const verdicts = summary.verdicts.filter((verdict) => verdict.level === level);
    const words = Object.entries(Object.groupBy(verdicts, (verdict) => wordOf(verdict, summary)));
    const counts = words.map(([word, { length } = []]) => `${length} ${word}`);
    return [`${level}: ${verdicts.length} checks`, ...counts].join(", ");
  });
}

/** Returns the report for a terminal. Each check that did not pass is shown with its sentence and the reason. */
export function toTable(summary: Summary): string {
  const { verdicts, stale } = summary;
  const width = Math.max(...verdicts.map(({ id }) => id.length));
  const lines = verdicts.flatMap((verdict) => {
    const { id, level, sentence, outcome, reason = "" } = verdict;
    const line = `${wordOf(verdict, summary).padEnd(8)}  ${level.padEnd(6)}  ${id.padEnd(width)}`;
    if (outcome === "passed") return [line.trimEnd()];
    return [line.trimEnd(), `          ${sentence}`, ...reason.split("\n").map((each) => `          > ${each}`)];
  });
  const staleLines = stale.map((id) => `stale     ${id} is expected to fail, but passed or does not exist: remove it`);
  return [...lines, ...staleLines, "", ...toCounts(summary)].join("\n");
}
