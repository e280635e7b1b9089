import type { Call } from "../../conversation/call.ts";
import type { JsonObject } from "../../lib/json.ts";
import { truncateText } from "../../lib/truncate-text.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import { resultText } from "../../tool/outcome.ts";

export type ToolCallState = MessageBody<"tool_call_state">;

interface LiveDetails {
  /** The participant whose permission the call waits for. */
  readonly approver?: string | undefined;
}

/**
 * The maximum sizes of the values in a state. Longer values are truncated, because a state must fit into one envelope
 * together with its logs. `isCut` in a state's metadata means that the stored call contains more.
 */
const MAX_INPUT_BYTES = 256 * 1_024;
const MAX_OUTPUT_BYTES = 256 * 1_024;
const MAX_ERROR_BYTES = 16 * 1_024;

/**
 * Returns a call as a ToolCallState, for the wire and for events, or `undefined` if the call is not shown at all. `id`
 * and `callId` are both the ToolUseRequest's id. `metadataJson` contains details that ToolCallState has no field for
 * (docs/tools.md).
 *
 * @param more details that are not stored with a call
 */
export function toToolCallState(call: Call, more: LiveDetails = {}): ToolCallState | undefined {
  const { id, toolName: name, state: status, startedAt, finishedAt, detail, input, editedInput, outcome, logs } = call;
  if (detail === "off") return undefined;
  const times = { ...(startedAt !== undefined && { startedAt }), ...(finishedAt !== undefined && { finishedAt }) };
  if (detail === "name") {
    const { messageId, toolUseId, revision } = call;
    const metadataJson = JSON.stringify({ messageId, toolUseId, revision });
    return { id, name, status, callId: id, logs: [], metadataJson, ...times };
  }
  const whole = outcome?.result && resultText(outcome.result);
  const output = whole !== undefined ? truncateText(whole, MAX_OUTPUT_BYTES) : undefined;
  const written = cutInput(input);
  const edited = editedInput && cutInput(editedInput);
  const isCut = output !== whole || written.isCut || edited?.isCut === true;
  const isFailed = outcome !== undefined && outcome.state !== "success";
  return {
    id,
    name,
    status,
    callId: id,
    inputJson: written.json,
    ...(output !== undefined && { output }),
    ...(isFailed && { error: truncateText(outcome.errorMessage, MAX_ERROR_BYTES) }),
    logs: [...logs],
    metadataJson: JSON.stringify({
      ...toMetadata(call),
      ...(edited && { editedInput: edited.json }),
      ...(isCut && { isCut }),
      ...more,
    }),
    ...times,
  };
}

function toMetadata(call: Call): JsonObject {
  const {
    messageId,
    toolUseId,
    revision,
    participant,
    addressee,
    timeoutMs,
    deadlineAt,
    progress,
    outcome,
    mcpServer,
  } = call;
  return {
    messageId,
    toolUseId,
    revision,
    execution: call.executionResolved ?? call.executionAsked,
    participant,
    ...(addressee !== undefined && { addressee }),
    timeoutMs,
    ...(deadlineAt !== undefined && { deadlineAt }),
    ...(call.state === "running" && deadlineAt === undefined && { waitsForPermission: true }),
    ...(progress !== undefined && { progress }),
    ...(mcpServer !== undefined && { mcpServer }),
    ...(outcome && "errorCode" in outcome && { errorCode: outcome.errorCode }),
    ...(outcome?.state === "success" && outcome.display && { display: outcome.display }),
  };
}

/** Replaces input that is too long with `{truncated}`, so that the string remains valid JSON. */
function cutInput(input: JsonObject): { readonly json: string; readonly isCut: boolean } {
  const json = JSON.stringify(input);
  if (json.length * 3 <= MAX_INPUT_BYTES || Buffer.byteLength(json) <= MAX_INPUT_BYTES) return { json, isCut: false };
  return { json: JSON.stringify({ truncated: truncateText(json, MAX_INPUT_BYTES / 2) }), isCut: true };
}
