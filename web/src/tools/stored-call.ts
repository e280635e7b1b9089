import type { ToolCall } from "@parley/react";
import type { StoredPart } from "../shared/read-record.ts";

const STATES: readonly string[] = ["pending", "running", "success", "error", "cancelled"];

/** A stored call, in the form of a live one. */
export function toToolCall(part: StoredPart, messageId: string): ToolCall {
  const { toolUseId = "", name = "", state = "", input, result, errorCode, errorMessage } = part;
  const { ranOn, participant, modelInput, logs = [], extraAnswers, display, startedAt, finishedAt } = part;
  const written = modelInput ?? input;
  return {
    toolUseId,
    messageId,
    name,
    status: (STATES.includes(state) ? state : "success") as ToolCall["status"],
    inputJson: written === undefined ? "" : JSON.stringify(written),
    logs,
    revision: 0,
    ...(result !== undefined && { output: toOutput(result) }),
    ...(errorCode !== undefined && { errorCode }),
    ...(errorMessage !== undefined && { error: errorMessage }),
    ...(ranOn !== undefined && { runner: ranOn }),
    ...(participant !== undefined && { addressee: participant }),
    ...(modelInput !== undefined && { editedInput: JSON.stringify(input) }),
    ...(startedAt !== undefined && { startedAt }),
    ...(finishedAt !== undefined && { finishedAt }),
    ...(extraAnswers && { extraAnswers }),
    ...(display && { display }),
  };
}

/** As the worker tells it while the call is seen: a tool that gives no object has it under `value` alone. */
function toOutput(result: unknown): string {
  const isWrapped = typeof result === "object" && result !== null && Object.keys(result).join() === "value";
  const value: unknown = isWrapped ? (result as { readonly value: unknown }).value : result;
  return typeof value === "string" ? value : JSON.stringify(value);
}
