import { danglingUses, toolUseId } from "../../conversation/block.ts";
import { type TurnRecord } from "../../conversation/turn-record.ts";
import { loadOpenCalls } from "../../store/calls/load-open-calls.ts";
import { type SessionWriter } from "../../store/sessions/session-writer.ts";
import { settleToolCall, type ToolCallEnd } from "../../store/calls/settle-tool-call.ts";
import { toldResult } from "../turns/outcome-turn.ts";
import { type Restored } from "./restore.ts";
import { endOfLeft } from "./repair-turn.ts";

/**
 * Ends the calls on record that nobody waits for any more. A result is stored beside the end of its call: a worker may
 * have died between the two. What the model was told of a call then is how it ended.
 */
export async function endLeftCalls(writer: SessionWriter, { past, unfinished, promised }: Restored): Promise<void> {
  const turns = unfinished ? [...past, unfinished.turn] : past;
  const awaited = new Set([
    ...promised.map((call) => call.toolUseId),
    ...danglingUses(unfinished?.turn.blocks ?? []).map(toolUseId),
  ]);
  for (const call of await loadOpenCalls(writer.sql, writer.lease)) {
    if (awaited.has(call.toolUseId)) continue;
    const end = toldEnd(turns, call.toolUseId) ?? endOfLeft(call);
    await settleToolCall(writer, { callId: call.id, ...end });
  }
}

function toldEnd(turns: readonly TurnRecord[], useId: string): Omit<ToolCallEnd, "callId"> | undefined {
  const { content, is_error: isError = false } = toldResult(turns, useId)?.content ?? {};
  if (typeof content !== "string") return undefined;
  if (isError === true) return { state: "error", errorCode: "execution_error", errorMessage: content };
  return { state: "success", result: { value: content } };
}
