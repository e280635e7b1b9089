import type { ToolCall } from "@parley/react";
import type { StoredPart } from "../shared/read-record.ts";

const STATES: readonly string[] = ["pending", "running", "success", "error", "cancelled"];

/** A stored call, in the form of a live one. */
export function toToolCall(part: StoredPart, messageId: string): ToolCall {
  const { toolUseId = "", name = "", state = "", input, result, errorCode, errorMessage } = part;
  const { ranOn, participant, extraAnswers, display } = part;
  return {
    toolUseId,
    messageId,
    name,
    status: (STATES.includes(state) ? state : "success") as ToolCall["status"],
    inputJson: input === undefined ? "" : JSON.stringify(input),
    logs: [],
    revision: 0,
    ...(result !== undefined && { output: typeof result === "string" ? result : JSON.stringify(result) }),
    ...(errorCode !== undefined && { errorCode }),
    ...(errorMessage !== undefined && { error: errorMessage }),
    ...(ranOn !== undefined && { runner: ranOn }),
    ...(participant !== undefined && { addressee: participant }),
    ...(extraAnswers && { extraAnswers }),
    ...(display && { display }),
  };
}
