import { MEMORY_TOOL, toolResultBlock } from "../../conversation/block.ts";
import { createId } from "../../lib/id.ts";
import { listMemories } from "../../store/memory/memories.ts";
import type { Sql } from "../../store/database/pool.ts";
import { withOpening } from "../turns/outcome-turn.ts";
import type { NewTurn, TurnInput } from "../turns/turn-queue.ts";

/** Tells the model, in a participant's first turn since the session was opened, what it is to remember of that one. */
export class ToldMemories {
  readonly #sql: Sql;
  readonly #onError: (error: unknown) => void;
  /** The participants that the model has been told of. */
  readonly #told = new Set<string>();

  /** @param onError what is remembered cannot be read: the turn goes on without it */
  constructor(sql: Sql, onError: (error: unknown) => void) {
    this.#sql = sql;
    this.#onError = onError;
  }

  /** The turn as it is to begin; `undefined` when there is nothing to tell in it. Never rejects. */
  tell(turn: TurnInput): Promise<TurnInput> | undefined {
    if ("turn" in turn || turn.messageId === null || this.#told.has(turn.participant)) return undefined;
    this.#told.add(turn.participant);
    return this.#tell(turn);
  }

  async #tell(turn: NewTurn): Promise<NewTurn> {
    const { participant } = turn;
    try {
      const memories = await listMemories(this.#sql, { identity: participant });
      if (memories.length === 0) return turn;
      const id = `toolu_${createId()}`;
      const content = { tool_use_id: id, tool_name: MEMORY_TOOL, input: { participant } };
      const remembered = memories.map((memory) => ({ id: memory.id, text: memory.text }));
      const result = toolResultBlock(id, { content: JSON.stringify({ remembered }), isError: false });
      return withOpening(turn, [{ blockType: "tool_use", textContent: null, content }, result]);
    } catch (error) {
      this.#told.delete(participant);
      this.#onError(error);
      return turn;
    }
  }
}
