import { type Call } from "../../conversation/call.ts";
import { toolResultBlock, toolUseId, type TurnBlock } from "../../conversation/block.ts";
import { type TurnRecord } from "../../conversation/turn-record.ts";
import { createId } from "../../lib/id.ts";
import { isRecord } from "../../lib/json.ts";
import { type ModelAnswer } from "../../tool/outcome.ts";
import { isReceipt } from "../../tool/calls/follow-call.ts";
import { type OnResult } from "../../tool/talk-behavior.ts";
import { type NewTurn } from "./turn-queue.ts";

/** How a call ended that its turn did not wait for. */
export interface LateOutcome {
  readonly call: Call;
  readonly answer: ModelAnswer;
  readonly onResult: OnResult;
}

/** The tool use that stands in the history for the arrival of an outcome. No tool has the name, so it is never run. */
export const OUTCOME_TOOL = "call_outcome";

const NOTES: Record<OnResult, string> = {
  speak: "Tell the participant.",
  wait: "Tell the participant along with your answer.",
  silent: "For your knowledge only: do not speak of it unless you are asked.",
};

/** The turn in which the model hears how calls of one participant ended that it was told are still running. */
export function toOutcomeTurn(participant: string, outcomes: readonly LateOutcome[]): NewTurn {
  const input = outcomes.map(({ call: { toolName, toolUseId: id } }) => ({
    type: "text" as const,
    text: `[The call of ${toolName} (${id}) that was still running has ended. Its outcome follows.]`,
  }));
  return withOutcomes({ participant, messageId: null, input }, outcomes);
}

/**
 * The outcomes are the tools' data, so they reach the model in tool results, as any other: as the answers to tool uses
 * that ask for them, with which the turn begins.
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

/** A turn that replaces others begins with what they were told of calls that are still part of the history. */
export function withOutcomesOf(
  turn: NewTurn,
  { replaced, kept }: { readonly replaced: readonly TurnRecord[]; readonly kept: readonly TurnRecord[] },
): NewTurn {
  const promised = new Set(kept.flatMap(({ blocks }) => blocks.filter(isPromise).map(toolUseId)));
  const blocks = replaced.flatMap((one) => one.blocks);
  const told = blocks.filter((block) => promised.has(subjectOf(block)));
  const results = new Map(blocks.filter(isResult).map((block) => [toolUseId(block), block]));
  return withOpening(
    turn,
    told.flatMap((use) => [use, results.get(toolUseId(use)) ?? []].flat()),
  );
}

/** Tool uses that the model was promised an outcome of and has not been told yet. */
export function promisedUses(turns: readonly TurnRecord[]): ReadonlySet<string> {
  const blocks = turns.flatMap((turn) => turn.blocks);
  const told = new Set(blocks.map(subjectOf));
  const promised = blocks.filter(isPromise).flatMap((block) => toolUseId(block) ?? []);
  return new Set(promised.filter((id) => !told.has(id)));
}

/** What the model was told in the end of a tool use; a promise is no end. */
export function toldResult(turns: readonly TurnRecord[], useId: string): TurnBlock | undefined {
  const blocks = turns.flatMap((turn) => turn.blocks);
  const later = blocks.find((block) => subjectOf(block) === useId);
  const id = (later && toolUseId(later)) ?? useId;
  return blocks.find((block) => isResult(block) && !isPromise(block) && toolUseId(block) === id);
}

function withOpening(turn: NewTurn, blocks: readonly Omit<TurnBlock, "sequence">[]): NewTurn {
  const opening = [...(turn.opening ?? []), ...blocks];
  return { ...turn, opening: opening.map((block, sequence) => ({ ...block, sequence })) };
}

/** The tool use whose outcome a `call_outcome` asks for. */
function subjectOf({ blockType, content }: TurnBlock): string | undefined {
  if (blockType !== "tool_use" || content?.["tool_name"] !== OUTCOME_TOOL || !isRecord(content["input"]))
    return undefined;
  const id = content["input"]["tool_use_id"];
  return typeof id === "string" ? id : undefined;
}

function isResult({ blockType }: TurnBlock): boolean {
  return blockType === "tool_result";
}

function isPromise(block: TurnBlock): boolean {
  return isResult(block) && isReceipt(block.content?.["content"]);
}
