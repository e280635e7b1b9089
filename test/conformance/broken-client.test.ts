import { beforeAll, expect, test } from "vitest";
import type { Verdict } from "../../src/conformance/run/run-suites.ts";
import { FLAWS } from "./clients/flaws.ts";
import { failures, nodeClient, runClient } from "./run-client.ts";

// One run with all flaws at once. `npm run test:system` has a separate run for each flaw.
let verdicts: readonly Verdict[] = [];

beforeAll(async () => {
  verdicts = await runClient(...nodeClient("broken-client.ts", ...Object.keys(FLAWS)));
}, 60_000);

test.each(Object.entries(FLAWS))("a client that %s fails the check for that flaw", (_name, { found, seen }) => {
  const { outcome, reason } = verdicts.find(({ id }) => id === found) ?? {};

  expect({ outcome, reason }).toEqual({ outcome: "failed", reason: expect.stringMatching(seen) });
});

test("it fails no other check", () => {
  const found = new Set<string>(Object.values(FLAWS).map((flaw) => flaw.found));

  expect(failures(verdicts.filter(({ id }) => !found.has(id)))).toEqual([]);
});
