import { type Call, type CallState } from "../../conversation/call.ts";
import { type JsonObject } from "../../lib/json.ts";

/**
 * What a live event says of a call: which, and what of its row changes. The rest (arguments, logs, result) has no room
 * in a notification, and is loaded from the store.
 */
export function toLiveCall(call: Call, short: (text: string) => string): JsonObject {
  const { id: callId, messageId: turnId, revision, state, addressee, outcome, logs, progress } = call;
  const { executionResolved, startedAt, deadlineAt, finishedAt } = call;
  const errorCode = outcome && "errorCode" in outcome ? outcome.errorCode : undefined;
  return {
    turnId,
    callId,
    revision,
    toolUseId: short(call.toolUseId),
    name: short(call.toolName),
    state,
    executionAsked: call.executionAsked,
    ...(executionResolved !== undefined && { executionResolved }),
    ...(addressee !== undefined && { addressee: short(addressee) }),
    timeoutMs: call.timeoutMs,
    ...(startedAt !== undefined && { startedAt }),
    ...(deadlineAt !== undefined && { deadlineAt }),
    ...(finishedAt !== undefined && { finishedAt }),
    ...(errorCode !== undefined && { errorCode: short(errorCode) }),
    ...(progress !== undefined && { progress }),
    logCount: logs.length,
  };
}

/** A stored call as it was when a live event told of it: the row may have moved on since. */
export function callAsTold(stored: Call, told: JsonObject): Call {
  const number = (key: string) => (typeof told[key] === "number" ? told[key] : undefined);
  const state = (told["state"] ?? stored.state) as CallState;
  return {
    ...stored,
    state,
    revision: number("revision") ?? stored.revision,
    executionResolved: told["executionResolved"] as Call["executionResolved"],
    addressee: told["addressee"] === undefined ? undefined : stored.addressee,
    startedAt: number("startedAt"),
    deadlineAt: number("deadlineAt"),
    finishedAt: number("finishedAt"),
    progress: number("progress"),
    logs: stored.logs.slice(0, number("logCount")),
    outcome: state === stored.state ? stored.outcome : undefined,
  };
}
