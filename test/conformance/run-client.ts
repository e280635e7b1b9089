import { inject } from "vitest";
import { checkClient } from "../../src/conformance/client/check-client.ts";
import { programEnvironment } from "../../src/tool/program-environment.ts";
import type { Verdict } from "../../src/conformance/run/run-suites.ts";

/** Returns all verdicts for a client. The checks use the test run's livekit-server. */
export async function runClient(...command: readonly string[]): Promise<readonly Verdict[]> {
  const livekit = { url: inject("livekitUrl"), apiKey: inject("livekitApiKey"), apiSecret: inject("livekitApiSecret") };
  return checkClient({ livekit, command, environment: programEnvironment("NODE_COMPILE_CACHE") });
}

/** The command for a program in `clients/`. */
export function nodeClient(program: string, ...args: readonly string[]): readonly string[] {
  return ["env", "NODE_ENV=production", process.execPath, `test/conformance/clients/${program}`, ...args];
}

const describeVerdicts = (verdicts: readonly Verdict[]) =>
  verdicts.map(({ id, outcome, reason }) => `${id} ${outcome}: ${reason}`);

/** Describes the checks that have not passed, each with its reason. */
export const notPassed = (verdicts: readonly Verdict[]) =>
  describeVerdicts(verdicts.filter(({ outcome }) => outcome !== "passed"));

/** Describes the checks that have failed, or that the kit was unable to run, each with its reason. */
export const failures = (verdicts: readonly Verdict[]) =>
  describeVerdicts(verdicts.filter(({ outcome }) => outcome === "failed" || outcome === "kit"));
