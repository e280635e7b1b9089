import type { TurnBlock } from "../conversation/block.ts";
import type { TurnRecord } from "../conversation/turn-record.ts";
import type { ModelBlock, StopReason } from "../llm/model-event.ts";

/** Stores a turn's blocks. `add` returns at once. `durable` resolves when everything added is stored. */
export interface BlockRecord {
  /** @param stopReason why the model stopped after this block */
  readonly add: (block: TurnBlock, stopReason?: StopReason) => void;
  /** @throws {AppError} `unavailable` when the database remained unavailable */
  readonly durable: () => Promise<void>;
}

/**
 * The turn as it grows. Assigns each block its sequence number, and provides the turn for the next model call's
 * history.
 */
export class TurnDraft {
  readonly #turn: Omit<TurnRecord, "blocks" | "state">;
  readonly #blocks: TurnBlock[];
  readonly #record: BlockRecord;
  #nextSequence: number;
  /**
   * A text block that may be the model's last. It is held back until the next block begins or the model call ends,
   * because the stop reason is stored with the last block.
   */
  #lastText: TurnBlock | undefined;

  /** @param turn includes its stored blocks, if the turn is being resumed */
  constructor(turn: TurnRecord, record: BlockRecord) {
    this.#turn = turn;
    this.#blocks = [...turn.blocks];
    this.#nextSequence = (turn.blocks.at(-1)?.sequence ?? -1) + 1;
    this.#record = record;
  }

  /** Reserves the sequence number of a block that has begun. Blocks end in the order in which they begin. */
  reserve(): number {
    this.storeText();
    return this.#nextSequence++;
  }

  /** Releases the number of a dropped block, if it is the last one reserved. */
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

  /**
   * Stores the text block that was held back. Call it when the model call has ended.
   *
   * @param stopReason absent if the call was cut off
   */
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
