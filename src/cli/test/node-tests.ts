import { readFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { run as runTests } from "node:test";
import type { TestRun } from "../../testing/scenario/run-scenario.ts";

/** Whether a file's tests are written for Node's own test runner, rather than for another one such as Vitest. */
export async function usesNodeTest(file: string): Promise<boolean> {
  return /\bfrom\s*["']node:test["']/u.test(await readFile(file, "utf8"));
}

/**
 * Runs test files with `node --test`, each in its own process. Their output goes to stderr. Yields nothing for skipped
 * tests. For suites, and for tests that failed only because of their subtests, yields only the subtests. Each process
 * is forced to exit after its tests. Otherwise, if a session is still in a room, LiveKit's native library would keep
 * the process alive forever.
 */
export async function* runNodeTests(files: readonly string[], repeat = 1): AsyncGenerator<TestRun> {
  for (let run = 1; run <= repeat; run++) {
    const options = { files: files.map((file) => resolve(file)), execArgv: ["--test-force-exit"] };
    for await (const { type, data } of runTests(options)) {
      if (type === "test:stdout" || type === "test:stderr") process.stderr.write(data.message);
      if ((type !== "test:pass" && type !== "test:fail") || data.skip !== undefined || data.todo !== undefined)
        continue;
      const failure = type === "test:fail" ? data.details.error : undefined;
      if (failure ? failedThroughSubtests(failure) : data.details.type === "suite") continue;
      const file = relative("", data.file ?? data.name);
      yield {
        file,
        // A file that fails to load counts as one test, named after its path.
        name: data.name === data.file ? file : data.name,
        run,
        ms: Math.round(data.details.duration_ms),
        failure: failure && whyFailed(failure),
      };
    }
  }
}

/** Whether a test failed only because a subtest failed. Node's types lack this field. */
function failedThroughSubtests(error: Error): boolean {
  return "failureType" in error && error.failureType === "subtestsFailed";
}

/** Returns the error that the test threw. Its stack trace excludes Node's own files. */
function whyFailed(error: Error): string {
  const { stack = "", message } = error.cause instanceof Error ? error.cause : error;
  const lines = (stack === "" ? message : stack).split("\n");
  return lines
    .filter((line) => !/^\s+at .*(?:\bnode:|\(<anonymous>\)$)/u.test(line))
    .join("\n")
    .trimEnd();
}
