import type { Call } from "../../conversation/call.ts";
import { OUTCOME_TOOL, toolResultBlock, type TurnBlock } from "../../conversation/block.ts";
import { createId } from "../../lib/id.ts";
import type { ModelAnswer } from "../../tool/outcome.ts";
import type { OnResult } from "../../tool/pacing.ts";
import type { NewTurn } from "./turn-queue.ts";

/** The outcome of a call that its turn did not wait for. */
export interface LateOutcome {
  readonly call: Call;
  readonly answer: ModelAnswer;
  readonly onResult: OnResult;
}

const NOTES: Record<OnResult, string> = {
  speak: "Tell the participant.",
  wait: "Tell the participant along with your answer.",
  silent: "For your knowledge only: do not speak of it unless you are asked.",
};

/** Returns a turn that reports the outcomes of one participant's calls to the model. */
export function toOutcomeTurn(participant: string, outcomes: readonly LateOutcome[]): NewTurn {
  const input = outcomes.map(({ call: { toolName, toolUseId: id } }) => ({
    type: "text" as const,
    text: `[The call of ${toolName} (${id}) that was still running has ended. Its outcome follows.]`,
  }));
  return withOutcomes({ participant, messageId: null, input }, outcomes);
}

/**
 * Makes a turn start with a tool_use and a tool_result block for each outcome. Outcomes are data from tools, so the
 * model must receive them as tool results.
 */
export function withOutcomes(turn: NewTurn, outcomes: readonly LateOutcome[]): NewTurn {
  const blocks = outcomes.flatMap(({ call, answer, onResult }) => {
    const id = `toolu_${createId()}`;
    const input = { tool_use_id: call.toolUseId, tool: call.toolName, note: NOTES[onResult] };
    const content = { tool_use_id: id, tool_name: OUTCOME_TOOL, input };
    return [{ blockType: "tool_use", textContent: null, content }, toolResultBlock(id, answer)];
  });
  return withOpening(turn, blocks);
}

/** Appends blocks to those that the turn starts with. */
export function withOpening(turn: NewTurn, blocks: readonly Omit<TurnBlock, "sequence">[]): NewTurn {
  const opening = [...(turn.opening ?? []), ...blocks];
  return { ...turn, opening: opening.map((block, sequence) => ({ ...block, sequence })) };
}
