import { type TurnBlock } from "../../conversation/block.ts";
import { type TurnEnd } from "../../turn/turn-event.ts";
import { type Phrases } from "./phrases.ts";

interface SpokenEnd {
  readonly phrase: keyof Phrases;
  /** Shown to those who read, too; what is not is said to them in another way. */
  readonly isShown: boolean;
}

const ENDS: Partial<Record<string, keyof Phrases>> = {
  refusal: "refused",
  max_tokens: "stopped",
  model_context_window_exceeded: "stopped",
  step_limit: "tooManySteps",
  pause_turn: "tooManySteps",
};

/** What a turn's end is told by when the model has said nothing fit to be said; undefined when it has. */
export function endOf({ state, stopReason }: TurnEnd, blocks: readonly TurnBlock[]): SpokenEnd | undefined {
  if (state === "failed") return { phrase: "failed", isShown: false };
  if (state !== "completed") return undefined;
  const phrase = ENDS[stopReason ?? ""];
  if (phrase !== undefined) return { phrase, isShown: true };
  const last = blocks.findLast(({ blockType, textContent }) => {
    return blockType === "tool_result" || (blockType === "text" && textContent?.trim() !== "");
  });
  const isUnfinished = last?.blockType === "tool_result" && last.content?.["is_error"] === true;
  return isUnfinished ? { phrase: "unfinished", isShown: false } : undefined;
}
