import type { Call } from "../../src/conversation/call.ts";

/** A call that has just been opened, changed as a test wants it. */
export function callOf(changes: Partial<Call> = {}): Call {
  return {
    id: "call",
    toolUseId: "toolu_1",
    turnId: "turn",
    messageId: "answer",
    participant: "ann",
    toolName: "scan",
    input: { page: 1 },
    timeoutMs: 30_000,
    executionAsked: "server",
    idempotencyKey: "key",
    onInterrupt: "finish",
    isBackground: false,
    state: "pending",
    executionResolved: undefined,
    addressee: undefined,
    startedAt: undefined,
    deadlineAt: undefined,
    finishedAt: undefined,
    outcome: undefined,
    revision: 1,
    logs: [],
    progress: undefined,
    detail: "full",
    ...changes,
  };
}
