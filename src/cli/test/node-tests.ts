import { readFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { run as runTests } from "node:test";
import type { TestRun } from "../../testing/scenario/run-scenario.ts";

/** Whether a file has tests for Node's own test runner, and not for another one such as Vitest. */
export async function isOfNodeTest(file: string): Promise<boolean> {
  return /\bfrom\s*["']node:test["']/u.test(await readFile(file, "utf8"));
}

/**
 * Runs test files, each in a process of its own, as `node --test` does. What they print goes to standard error. Skipped
 * tests give no run. Of a suite, and of a test that failed by its subtests, only the subtests give runs. A file's
 * process ends with its tests, because LiveKit's native library would keep one with a talk in a room for ever.
 */
export async function* runNodeTests(files: readonly string[], repeat = 1): AsyncGenerator<TestRun> {
  for (let run = 1; run <= repeat; run++) {
    const options = { files: files.map((file) => resolve(file)), execArgv: ["--test-force-exit"] };
    for await (const { type, data } of runTests(options)) {
      if (type === "test:stdout" || type === "test:stderr") process.stderr.write(data.message);
      if ((type !== "test:pass" && type !== "test:fail") || data.skip !== undefined || data.todo !== undefined)
        continue;
      const failure = type === "test:fail" ? data.details.error : undefined;
      if (failure ? isOfSubtests(failure) : data.details.type === "suite") continue;
      const file = relative("", data.file ?? data.name);
      yield {
        file,
        // A file that cannot be loaded counts as one test, which is named by its path.
        name: data.name === data.file ? file : data.name,
        run,
        ms: Math.round(data.details.duration_ms),
        failure: failure && whyFailed(failure),
      };
    }
  }
}

/** Whether a test failed only because a subtest did. Node's types do not have this field. */
function isOfSubtests(error: Error): boolean {
  return "failureType" in error && error.failureType === "subtestsFailed";
}

/** The error that the test threw, with the lines of its stack that are in files other than Node's own. */
function whyFailed(error: Error): string {
  const { stack = "", message } = error.cause instanceof Error ? error.cause : error;
  const lines = (stack === "" ? message : stack).split("\n");
  return lines
    .filter((line) => !/^\s+at .*(?:\bnode:|\(<anonymous>\)$)/u.test(line))
    .join("\n")
    .trimEnd();
}
