import type { TurnBlock } from "../conversation/block.ts";
import type { TurnRecord } from "../conversation/turn-record.ts";
import type { ModelBlock, StopReason } from "../llm/model-event.ts";

/** Stores a turn's blocks. `add` never waits; `durable` resolves when all that was added is stored. */
export interface BlockRecord {
  /** @param stopReason why the model ended after this block */
  readonly add: (block: TurnBlock, stopReason?: StopReason) => void;
  /** @throws {AppError} `unavailable` when the store stayed down */
  readonly durable: () => Promise<void>;
}

/** The turn as it grows. It gives each block its place, and the next model call's history is built from it. */
export class TurnDraft {
  readonly #turn: Omit<TurnRecord, "blocks" | "state">;
  readonly #blocks: TurnBlock[];
  readonly #record: BlockRecord;
  #nextSequence: number;
  /** A text that may be the model's last: it is stored with the reason for which it ended, once the model goes on or ends. */
  #lastText: TurnBlock | undefined;

  /** @param turn with the blocks that it has already, when a turn is taken up again */
  constructor(turn: TurnRecord, record: BlockRecord) {
    this.#turn = turn;
    this.#blocks = [...turn.blocks];
    this.#nextSequence = (turn.blocks.at(-1)?.sequence ?? -1) + 1;
    this.#record = record;
  }

  /** The place of a block that has just begun. Blocks end in the order in which they begin. */
  reserve(): number {
    this.storeText();
    return this.#nextSequence++;
  }

  /** Gives back the place of a block that is dropped, if it is the last. */
  release(sequence: number): void {
    if (sequence === this.#nextSequence - 1) this.#nextSequence = sequence;
  }

  put(sequence: number, block: ModelBlock): TurnBlock {
    this.storeText();
    const placed = { sequence, ...block };
    this.#blocks.push(placed);
    if (placed.blockType === "text") this.#lastText = placed;
    else this.#record.add(placed);
    return placed;
  }

  /** Stores the text that is held back. Call it when the model call has ended. @param stopReason absent when it was cut off */
  storeText(stopReason?: StopReason): void {
    if (this.#lastText) this.#record.add(this.#lastText, stopReason);
    this.#lastText = undefined;
  }

  durable(): Promise<void> {
    return this.#record.durable();
  }

  toRecord(): TurnRecord {
    return { ...this.#turn, state: "running", blocks: this.#blocks };
  }
}
