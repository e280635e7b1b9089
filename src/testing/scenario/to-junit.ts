import type { ScenarioRun } from "./run-scenario.ts";

/** The runs as JUnit's XML, which CI systems read. */
export function toJunit(runs: readonly ScenarioRun[]): string {
  const failures = runs.filter(({ failure }) => failure !== undefined).length;
  const seconds = (ms: number) => (ms / 1_000).toFixed(3);
  const total = seconds(runs.reduce((sum, { ms }) => sum + ms, 0));
  const cases = runs.map(({ file, name, run, ms, failure }) => {
    const title = run === 1 ? name : `${name} (run ${run})`;
    const head = `    <testcase classname="${escape(file)}" name="${escape(title)}" time="${seconds(ms)}"`;
    if (failure === undefined) return `${head}/>`;
    const [first = ""] = failure.split("\n");
    return `${head}>\n      <failure message="${escape(first)}">${escape(failure)}</failure>\n    </testcase>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    "<testsuites>",
    `  <testsuite name="parley" tests="${runs.length}" failures="${failures}" time="${total}">`,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** XML has no form for most control characters, escaped or not. */
function escape(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "�")
    .replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char);
}
