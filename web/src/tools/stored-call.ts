import type { SpokenTool, ToolCall } from "@parley/react";

/** Converts a stored call to the form of a live call. */
export function toToolCall(part: SpokenTool, messageId: string): ToolCall {
  const { toolUseId = "", name, state, input, result, errorCode, errorMessage } = part;
  const {
    ranOn,
    mcpServer,
    participant,
    modelInput,
    logs = [],
    extraAnswers,
    display,
    callId,
    leftOutBytes,
    startedAt,
    finishedAt,
  } = part;
  const written = modelInput ?? input;
  return {
    toolUseId,
    messageId,
    name,
    status: state,
    inputJson: written === undefined ? "" : JSON.stringify(written),
    logs,
    revision: 0,
    ...(leftOutBytes !== undefined && callId !== undefined && { id: callId, isCut: true }),
    ...(result !== undefined && { output: toOutput(result) }),
    ...(errorCode !== undefined && { errorCode }),
    ...(errorMessage !== undefined && { error: errorMessage }),
    ...(ranOn !== undefined && { runner: ranOn }),
    ...(mcpServer !== undefined && { mcpServer }),
    ...(participant !== undefined && { addressee: participant }),
    ...(modelInput !== undefined && { editedInput: JSON.stringify(input) }),
    ...(startedAt !== undefined && { startedAt }),
    ...(finishedAt !== undefined && { finishedAt }),
    ...(extraAnswers && { extraAnswers }),
    ...(display && { display }),
  };
}

/** Formats a result as the worker does for live calls. A result that is not an object is stored as `{ value }`. */
function toOutput(result: unknown): string {
  const isWrapped = typeof result === "object" && result !== null && Object.keys(result).join() === "value";
  const value: unknown = isWrapped ? (result as { readonly value: unknown }).value : result;
  return typeof value === "string" ? value : JSON.stringify(value);
}
