import { beforeAll, expect, test } from "vitest";
import { checkWorker } from "../../src/conformance/worker/check-worker.ts";
import type { Verdict } from "../../src/conformance/run/run-suites.ts";
import { forFile } from "../support/lifetimes.ts";
import { notPassed } from "./run-client.ts";
import { startBrokenWorker } from "./workers/broken-worker.ts";
import { FLAWS } from "./workers/flaws.ts";

// One run with all flaws at once. Each flaw is found by its own check, which reports what it has seen.
const worker = forFile(() => startBrokenWorker(() => Object.values(FLAWS).map(({ make }) => make())));
let verdicts: readonly Verdict[] = [];

beforeAll(async () => {
  verdicts = await checkWorker((room, identity) => worker.grantAccess(room, identity));
}, 60_000);

test.each(Object.entries(FLAWS))("a worker that %s fails the check for that flaw", (_name, { found, seen }) => {
  const { outcome, reason } = verdicts.find(({ id }) => id === found) ?? {};

  expect({ outcome, reason }).toEqual({ outcome: "failed", reason: expect.stringMatching(seen) });
});

test("it fails no other check", () => {
  const found = new Set(Object.values(FLAWS).map((flaw) => flaw.found));
  const others = verdicts.filter(({ id, outcome }) => !found.has(id) && outcome !== "skipped");

  expect(notPassed(others)).toEqual([]);
});
