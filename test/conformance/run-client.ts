import { inject } from "vitest";
import { checkClient } from "../../src/conformance/client/check-client.ts";
import { type Verdict } from "../../src/conformance/run/run-suites.ts";

/** All verdicts of a client that is one of the programs in `clients/`, on the run's livekit-server. */
export async function runClient(program: string, ...args: readonly string[]): Promise<readonly Verdict[]> {
  const livekit = { url: inject("livekitUrl"), apiKey: inject("livekitApiKey"), apiSecret: inject("livekitApiSecret") };
  return checkClient({ livekit, command: [process.execPath, `test/conformance/clients/${program}`, ...args] });
}

/** Ids of the checks that have not passed, with why. */
export const notPassed = (verdicts: readonly Verdict[]) =>
  verdicts.flatMap(({ id, outcome, reason }) => (outcome === "passed" ? [] : [`${id} ${outcome}: ${reason}`]));

export const failedIds = (verdicts: readonly Verdict[]) =>
  verdicts.flatMap(({ id, outcome }) => (outcome === "failed" || outcome === "kit" ? [id] : []));
