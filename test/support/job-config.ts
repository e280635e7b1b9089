import type { SessionServices } from "../../src/worker/job/open-job-session.ts";

/** The part of a worker's config that a session's job reads, with a test's changes. */
export function jobConfig(parts: { readonly [field: string]: unknown } = {}): SessionServices["config"] {
  const config = {
    model: { name: "claude-test", maxTokens: 1_024, serverTools: [] },
    context: { budgetTokens: 30_000, hardTokens: 120_000 },
    maxSteps: 10,
    toolTimeoutMs: 30_000,
    toolResultMaxBytes: 100_000,
    onNewMessage: "queue",
    permission: { rules: [], byVoice: false, waitMs: 120_000 },
    voice: {},
    ...parts,
  };
  return config as never;
}
