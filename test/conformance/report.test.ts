import { expect, test } from "vitest";
import { check, KitFault, NotApplicable, SubjectFault, type Suite } from "../../src/conformance/check.ts";
import { toHtml } from "../../src/conformance/report/to-html.ts";
import { toTable } from "../../src/conformance/report/to-table.ts";
import { parseExpected, summarize } from "../../src/conformance/run/expected.ts";
import { runSuites } from "../../src/conformance/run/run-suites.ts";

type Level = "MUST" | "SHOULD";

class Subject implements AsyncDisposable {
  isClosed = false;

  async [Symbol.asyncDispose]() {
    this.isClosed = true;
  }
}

/** A suite with one check for each outcome: the check throws the error, or passes. */
function suiteOf(outcomes: Readonly<Record<string, readonly [Level, Error?]>>): Suite<Subject> & { opened: Subject[] } {
  const opened: Subject[] = [];
  const checks = Object.entries(outcomes).map(([id, [level, error]]) =>
    check<Subject>(id, [level, `The sentence of ${id}, with <b>.`], () => {
      if (error) throw error;
    }),
  );
  const open = async () => {
    const subject = new Subject();
    opened.push(subject);
    return subject;
  };
  return { name: "a suite", checks, open, opened };
}

const run = (outcomes: Parameters<typeof suiteOf>[0]) => runSuites([suiteOf(outcomes)]);

test("if everything passes or is not requested, the exit code is 0", async () => {
  const verdicts = await run({ a: ["MUST"], b: ["SHOULD", new NotApplicable("no feature")] });

  expect(summarize(verdicts, []).status).toBe(0);
});

test("a failed SHOULD is reported and does not change the exit code", async () => {
  const summary = summarize(await run({ a: ["MUST"], b: ["SHOULD", new SubjectFault("late")] }), []);

  expect(summary.status).toBe(0);
  expect(toTable(summary)).toContain("failed    SHOULD  b");
});

test("a failed MUST exits with 1, and the report contains its sentence and what was seen", async () => {
  const summary = summarize(await run({ a: ["MUST", new SubjectFault("It said <nothing>")] }), []);

  expect(summary.status).toBe(1);
  expect(toTable(summary)).toBe(
    [
      "FAILED    MUST    a",
      "          The sentence of a, with <b>.",
      "          > It said <nothing>",
      "",
      "MUST: 1 checks, 1 FAILED",
      "SHOULD: 0 checks",
    ].join("\n"),
  );
});

test("an expected failure exits with 0, and a stale expectation with 1", async () => {
  const verdicts = await run({ a: ["MUST", new SubjectFault("late")], b: ["MUST"] });

  expect(summarize(verdicts, parseExpected("# known\na  # since we began\n\n")).status).toBe(0);
  const withStale = summarize(verdicts, ["a", "b", "no.such"]);
  expect(withStale).toMatchObject({ status: 1, stale: ["b", "no.such"] });
  expect(toTable(withStale)).toContain("stale     b is expected to fail, but passed");
});

test("a fault of the kit itself is reported as such, and exits with 3", async () => {
  const outcomes = { a: ["MUST", new KitFault("We sent nonsense")], b: ["MUST", new TypeError("oops")] } as const;
  const verdicts = await run(outcomes);

  expect(verdicts.map(({ outcome }) => outcome)).toEqual(["kit", "kit"]);
  expect(summarize(verdicts, ["a"]).status).toBe(3);
});

test("after a failure the next check gets a new subject, and each subject is closed", async () => {
  const suite = suiteOf({ a: ["MUST"], b: ["MUST", new SubjectFault("")], c: ["MUST"], d: ["MUST"] });
  await runSuites([suite]);

  expect(suite.opened.map(({ isClosed }) => isClosed)).toEqual([true, true]);
});

test("a subject that cannot be opened fails all checks in its suite, after one attempt", async () => {
  let tries = 0;
  const open = () => {
    tries += 1;
    return Promise.reject(new SubjectFault("It does not start"));
  };
  const verdicts = await runSuites([{ ...suiteOf({ a: ["MUST"], b: ["MUST"] }), open }]);

  expect(verdicts.map(({ reason }) => reason)).toEqual(["It does not start", "It does not start"]);
  expect(tries).toBe(1);
});

test("the page shows each verdict, and escapes all text", async () => {
  const summary = summarize(await run({ a: ["MUST", new SubjectFault("<script>")], b: ["SHOULD"] }), ["b"]);
  const page = toHtml(summary, "Conformance of a client");

  expect(page).toContain('<td class="FAILED">FAILED</td><td>MUST</td>');
  expect(page).toContain("The sentence of a, with &lt;b&gt;.<pre>&lt;script&gt;</pre>");
  expect(page).toContain("b is expected to fail, but passed");
});
