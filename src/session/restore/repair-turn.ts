import { endedCall, type Call, type Failure } from "../../conversation/call.ts";
import { danglingUses, textsOf, toolResultBlock, toolUseId, type TurnBlock } from "../../conversation/block.ts";
import { OUTCOME_UNKNOWN } from "../../conversation/history.ts";
import type { TurnRecord } from "../../conversation/turn-record.ts";
import { finishSpeech, finishTurn, type SpeechEnd } from "../../store/turns/write-turns.ts";
import { loadCallsOfTurn, saveCall } from "../../store/calls.ts";
import type { SessionWriter } from "../../store/sessions/session-writer.ts";
import { toModelAnswer, type ModelAnswer } from "../../tool/outcome.ts";
import { NOT_STARTED } from "../../tool/calls/call-runner.ts";
import { BlockWriter } from "../../store/turns/block-writer.ts";
import { sentencesOf } from "../answer/sentence-stream.ts";

/** Returns the outcome for a call that an earlier worker left open and that is not resumed. */
export function outcomeOfInherited({ state }: Call): Failure {
  return state === "pending" ? UNSTARTED : UNKNOWN;
}

const UNKNOWN = { state: "error", errorCode: "outcome_unknown", errorMessage: OUTCOME_UNKNOWN } as const;
const UNSTARTED = { state: "error", errorCode: "not_run", errorMessage: NOT_STARTED } as const;

/**
 * Ends a turn that was running when its worker stopped, or only the speech of its answer if the turn has ended. Every
 * tool use without a result gets one: the result of its call if the call had ended, otherwise a result that says what
 * is known. Stored blocks are not changed.
 */
export async function repairTurn(session: SessionWriter, turn: TurnRecord, resultMaxBytes: number): Promise<void> {
  const speech = endOfSpeech(turn);
  if (turn.state !== "running") {
    if (speech) await finishSpeech(session, { turnId: turn.id, ...speech });
    return;
  }
  const calls = await loadCallsOfTurn(session.sql, { turnId: turn.id });
  let sequence = (turn.blocks.at(-1)?.sequence ?? -1) + 1;
  const added: TurnBlock[] = [];
  for (const use of danglingUses(turn.blocks)) {
    const id = toolUseId(use) ?? "";
    const call = calls.find(({ toolUseId: useId }) => useId === id);
    added.push({ sequence: sequence++, ...toolResultBlock(id, answerOf(call, resultMaxBytes)) });
    if (call && !call.outcome) await saveCall(session, endedCall(call, outcomeOfInherited(call)));
  }
  await using writer = new BlockWriter(session);
  for (const block of added) writer.add({ turnId: turn.id, block });
  await writer.flush();
  const errorMessage = "The worker stopped during the turn";
  await finishTurn(session, { turnId: turn.id, state: "failed", errorCode: "unavailable", errorMessage, speech });
}

/** Returns how much of a turn's answer was spoken, in whole sentences, or `undefined` if it was not spoken. */
function endOfSpeech({ blocks, progress, state }: TurnRecord): SpeechEnd | undefined {
  if (progress?.heard === undefined) return undefined;
  const sentences = sentencesOf(textsOf(blocks), undefined);
  const isWhole = progress.heard >= sentences.length;
  return {
    state: isWhole && state === "completed" ? state : "failed",
    heard: isWhole ? undefined : sentences.slice(0, progress.heard).join(" "),
  };
}

/**
 * Returns what the model reads as the result of a call. A call is stored as running before it is passed to a runner, so
 * a call that is still pending was never started.
 */
function answerOf(call: Call | undefined, maxBytes: number): ModelAnswer {
  if (!call) return { content: NOT_STARTED, isError: true };
  if (call.outcome) return toModelAnswer(call.outcome, { timeoutMs: call.timeoutMs, maxBytes });
  return { content: outcomeOfInherited(call).errorMessage, isError: true };
}
