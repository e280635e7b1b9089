import { MEMORY_TOOL, toolResultBlock } from "../../conversation/block.ts";
import { createId } from "../../lib/id.ts";
import { withOpening } from "../turns/outcome-turn.ts";
import type { NewTurn, TurnInput } from "../turns/turn-queue.ts";
import type { MemorySnapshots } from "./memory-snapshots.ts";

/**
 * Adds a participant's memories to the history: in the participant's first turn since the session was opened, or in the
 * first turn after the memories could be read.
 */
export class MemoryPrompt {
  readonly #memories: Pick<MemorySnapshots, "of" | "read">;
  /** The participants whose memories the model has already received. */
  readonly #told = new Set<string>();

  constructor(memories: Pick<MemorySnapshots, "of" | "read">) {
    this.#memories = memories;
  }

  /**
   * Returns the turn with its participant's memories added, or a promise if these are still being read. The promise
   * never rejects.
   */
  tell(turn: TurnInput): TurnInput | Promise<TurnInput> {
    if ("turn" in turn || turn.messageId === null || this.#told.has(turn.participant)) return turn;
    const reading = this.#memories.read([turn.participant]);
    return reading ? reading.then(() => this.#opened(turn)) : this.#opened(turn);
  }

  #opened(turn: NewTurn): NewTurn {
    const { participant } = turn;
    const memories = this.#memories.of(participant);
    if (!memories) return turn;
    this.#told.add(participant);
    if (memories.length === 0) return turn;
    const id = `toolu_${createId()}`;
    const content = { tool_use_id: id, tool_name: MEMORY_TOOL, input: { participant } };
    const remembered = memories.map((memory) => ({ id: memory.id, text: memory.text }));
    const result = toolResultBlock(id, { content: JSON.stringify({ remembered }), isError: false });
    return withOpening(turn, [{ blockType: "tool_use", textContent: null, content }, result]);
  }
}
