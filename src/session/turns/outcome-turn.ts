import { type Call } from "../../conversation/call.ts";
import { toolResultBlock, toolUseId, type TurnBlock } from "../../conversation/block.ts";
import { type TurnRecord } from "../../conversation/turn-record.ts";
import { createId } from "../../lib/id.ts";
import { isRecord } from "../../lib/json.ts";
import { type ModelAnswer } from "../../tool/outcome.ts";
import { isReceipt } from "../../tool/calls/follow-call.ts";
import { type OnResult } from "../../tool/talk-behavior.ts";
import { type NewTurn } from "./turn-queue.ts";

/** The outcome of a call that its turn did not wait for. */
export interface LateOutcome {
  readonly call: Call;
  readonly answer: ModelAnswer;
  readonly onResult: OnResult;
}

/** The name in the tool use that brings an outcome into the history. No tool has this name, so it is never run. */
export const OUTCOME_TOOL = "call_outcome";

const NOTES: Record<OnResult, string> = {
  speak: "Tell the participant.",
  wait: "Tell the participant along with your answer.",
  silent: "For your knowledge only: do not speak of it unless you are asked.",
};

/** A turn that tells the model the promised outcomes of one participant's calls. */
export function toOutcomeTurn(participant: string, outcomes: readonly LateOutcome[]): NewTurn {
  const input = outcomes.map(({ call: { toolName, toolUseId: id } }) => ({
    type: "text" as const,
    text: `[The call of ${toolName} (${id}) that was still running has ended. Its outcome follows.]`,
  }));
  return withOutcomes({ participant, messageId: null, input }, outcomes);
}

/**
 * Begins a turn with a tool use and its result for each outcome. An outcome is a tool's data, so the model gets it in a
 * tool result, as any other.
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

/** Begins a turn with the outcomes that the turns it replaces were told, if the history still promises them. */
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

/** The ids of tool uses whose outcome the model was promised and has not been told. */
export function promisedUses(turns: readonly TurnRecord[]): ReadonlySet<string> {
  const blocks = turns.flatMap((turn) => turn.blocks);
  const told = new Set(blocks.map(subjectOf));
  const promised = blocks.filter(isPromise).flatMap((block) => toolUseId(block) ?? []);
  return new Set(promised.filter((id) => !told.has(id)));
}

/** The last result that the model was told of a tool use. A promise is no result. */
export function toldResult(turns: readonly TurnRecord[], useId: string): TurnBlock | undefined {
  const blocks = turns.flatMap((turn) => turn.blocks);
  const later = blocks.find((block) => subjectOf(block) === useId);
  const id = (later && toolUseId(later)) ?? useId;
  return blocks.find((block) => isResult(block) && !isPromise(block) && toolUseId(block) === id);
}

/** Begins a turn with blocks, after those that it begins with already. */
export function withOpening(turn: NewTurn, blocks: readonly Omit<TurnBlock, "sequence">[]): NewTurn {
  const opening = [...(turn.opening ?? []), ...blocks];
  return { ...turn, opening: opening.map((block, sequence) => ({ ...block, sequence })) };
}

/** The id of the tool use whose outcome a `call_outcome` brings. */
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
