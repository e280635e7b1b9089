import { type Call, INITIAL_CALL_STATE } from "../../src/conversation/call.ts";

/** A newly opened call, with a test's changes. */
export function callOf(changes: Partial<Call> = {}): Call {
  return {
    id: "call",
    toolUseId: "toolu_1",
    turnId: "turn",
    messageId: "answer",
    participant: "ann",
    toolName: "scan",
    mcpServer: undefined,
    input: { page: 1 },
    timeoutMs: 30_000,
    executionAsked: "server",
    idempotencyKey: "key",
    onInterrupt: "finish",
    isBackground: false,
    ...INITIAL_CALL_STATE,
    revision: 1,
    detail: "full",
    ...changes,
  };
}
