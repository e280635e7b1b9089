import type { TestRun } from "./run-scenario.ts";

/** Returns the runs as JUnit XML, which CI systems read. */
export function toJunit(runs: readonly TestRun[]): string {
  const failures = runs.filter(({ failure }) => failure !== undefined).length;
  const seconds = (ms: number) => (ms / 1_000).toFixed(3);
  const total = seconds(runs.reduce((sum, { ms }) => sum + ms, 0));
  const cases = runs.map(({ file, name, run, ms, failure }) => {
    const title = run === 1 ? name : `${name} (run ${run})`;
    const head = `    <testcase classname="${escape(file)}" name="${escape(title)}" time="${seconds(ms)}"`;
    if (failure === undefined) return `${head}/>`;
    return `${head}>\n      <failure message="${escape(summary(failure))}">${escape(failure)}</failure>\n    </testcase>`;
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

/** Shortens a failure for JUnit's list: its turn, what was expected and what happened. */
function summary(failure: string): string {
  const [first = "", ...more] = failure.split("\n");
  const message = [first, ...more.filter((line) => /^[-+✖] /u.test(line))].join(" ");
  return message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…` : message;
}

const MAX_MESSAGE_LENGTH = 300;
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes a text for XML. Replaces control characters, because XML does not allow most of them, not even escaped. */
function escape(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "�")
    .replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char);
}
