import { type TurnRecord } from "../../conversation/turn-record.ts";
import { type ToolCallRecord } from "../../store/calls/tool-call-record.ts";
import { type Call } from "../../tool/calls/call.ts";
import { toOutcome } from "./call-outcome.ts";

/** A stored call as the ledger knows one. */
export function toCall(
  record: ToolCallRecord,
  { messageId, participantIdentity }: Pick<TurnRecord, "messageId" | "participantIdentity">,
): Call {
  const { id, toolUseId, turnId, name, input, timeoutMs, executionAsked, idempotencyKey, state } = record;
  const { revision, logs, detail } = record;
  return {
    id,
    toolUseId,
    turnId,
    messageId,
    participant: participantIdentity,
    toolName: name,
    input,
    timeoutMs,
    executionAsked,
    idempotencyKey,
    onInterrupt: "finish",
    isBackground: record.isBackground,
    state,
    executionResolved: record.executionResolved ?? undefined,
    addressee: record.addressee ?? undefined,
    startedAt: record.startedAt ?? undefined,
    deadlineAt: record.deadlineAt ?? undefined,
    finishedAt: record.finishedAt ?? undefined,
    outcome: toOutcome(record),
    revision,
    logs,
    progress: record.progress ?? undefined,
    detail,
    ...(record.editedInput && { editedInput: record.editedInput }),
    wasAskedFor: record.wasAskedFor,
  };
}
