import { danglingUses, type TurnBlock } from "../../conversation/block.ts";
import type { TurnEvent } from "../../turn/turn-event.ts";
import type { AnswerOutput } from "../answer/answer-output.ts";

/**
 * Lets the agent be heard thinking while a turn waits for the model. While the turn waits for a tool, a filler may be
 * heard, and a participant may be thinking about a question.
 */
export class ModelWait {
  readonly #answer: Pick<AnswerOutput, "think">;
  readonly #turnSignal: AbortSignal;
  /** How many tool uses have no result yet. */
  #openUses: number;
  #waiting: AbortController | undefined;

  /** @param blocks the turn's blocks before it runs */
  constructor(answer: Pick<AnswerOutput, "think">, blocks: readonly TurnBlock[], turnSignal: AbortSignal) {
    this.#answer = answer;
    this.#turnSignal = turnSignal;
    this.#openUses = danglingUses(blocks).length;
  }

  handle(event: TurnEvent): void {
    switch (event.type) {
      case "turn_start":
        return this.#begin();
      case "block_stop":
        if (event.block.blockType === "tool_use") this.#openUses += 1;
        if (event.block.blockType !== "tool_result") return;
        this.#openUses -= 1;
        return this.#begin();
      case "usage":
      case "turn_complete":
        return this.#waiting?.abort();
      default:
    }
  }

  #begin(): void {
    if (this.#openUses > 0) return;
    this.#waiting?.abort();
    this.#waiting = new AbortController();
    this.#answer.think(AbortSignal.any([this.#turnSignal, this.#waiting.signal]));
  }
}
