import { setTimeout as sleep } from "node:timers/promises";
import type { TurnBlock } from "../../conversation/block.ts";
import {
  findTurnPosition,
  loadTurnsAfter,
  type FollowedTurn,
  type RecordPoint,
} from "../../store/turns/load-turns-after.ts";
import {
  blockStartEvent,
  blockStopEvent,
  turnCompleteEvent,
  turnSpokenEvent,
  turnStartEvent,
  wholeDeltaEvent,
} from "./stored-events.ts";
import type { SseEvent } from "../sse/sse-stream.ts";
import type { SharedReads } from "./shared-reads.ts";

/** How many turns are loaded at once. */
const PAGE = 20;

/** A block whose start has been sent, but not its end. */
interface UnendedBlock {
  readonly turn: string;
  readonly sequence: number;
  hasDelta: boolean;
}

interface ReaderOptions {
  readonly reads: SharedReads;
  readonly sessionId: string;
  readonly after: RecordPoint;
  readonly send: (event: SseEvent) => Promise<void>;
  readonly closed: AbortSignal;
}

/** Where `catchUp` stops. Later live events announce what follows. */
export interface Goal {
  readonly turn: string;
  readonly sequence: number | "start" | "end" | "spoken";
}

/** Sends a session's record once, in order. For a block whose deltas were sent live, it sends only the end. */
export class RecordReader {
  readonly #options: ReaderOptions;
  #point: RecordPoint;
  /** The id of the current turn, once it has been loaded. */
  #turn: string | undefined;
  /** Whether the current turn's start was sent, by this stream or by the one that this stream resumes. */
  #isBegun: boolean;
  #open: UnendedBlock | undefined;
  /** Whether the current turn has ended but its answer is still being spoken. */
  #isSpeaking = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#point = options.after;
    this.#isBegun = options.after.position > 0 && options.after.sequence !== "spoken";
  }

  /**
   * Sends everything that is stored but not yet sent, up to the goal if there is one. @throws {AppError} `unavailable`
   */
  async catchUp(goal?: Goal): Promise<void> {
    const { reads, sessionId, closed } = this.#options;
    const until = goal && { turnId: goal.turn, sequence: lastSequence(goal) };
    const isFinal = goal && ((turns: readonly FollowedTurn[]) => turns.some((turn) => reaches(turn, goal)));
    while (!closed.aborted) {
      const turns = await reads.read(loadTurnsAfter, { sessionId, after: this.#point, until, limit: PAGE }, isFinal);
      for (const turn of turns) {
        await this.#show(turn, goal);
        if (turn.id === goal?.turn) return;
      }
      if (turns.length < PAGE) return;
    }
  }

  /** Whether the record was already sent up to the goal. Returns `false` for any turn but the current one. */
  has({ turn, sequence }: Goal): boolean {
    return this.#turn === turn && (sequence === "start" || placeOf(sequence) <= placeOf(this.#point.sequence));
  }

  /** Whether the current turn is running or its answer is still being spoken. */
  get isInTurn(): boolean {
    return this.#turn !== undefined && (typeof this.#point.sequence === "number" || this.#isSpeaking);
  }

  /** Whether this turn is earlier than the current one. */
  async isPast(turn: string): Promise<boolean> {
    if (this.#turn === turn) return false;
    const position = await this.#options.reads.read(findTurnPosition, { turnId: turn });
    return position !== undefined && position <= this.#point.position;
  }

  /**
   * Sends the start of a block that is not stored yet. If another block is still open, stops following that block: it
   * either starts again or never ends.
   */
  async open({ turn, sequence }: Omit<UnendedBlock, "hasDelta">, event: SseEvent): Promise<void> {
    if (this.#turn !== turn || this.has({ turn, sequence })) return;
    this.#open = { turn, sequence, hasDelta: false };
    await this.#options.send(event);
  }

  async grow({ turn, sequence }: Omit<UnendedBlock, "hasDelta">, event: SseEvent): Promise<void> {
    if (this.#open?.turn !== turn || this.#open.sequence !== sequence) return;
    this.#open.hasDelta = true;
    await this.#options.send(event);
  }

  /** Call this after a gap. Deltas of the open block may have been missed, so it is sent in full when it ends. */
  forgetOpen(): void {
    this.#open = undefined;
  }

  async #show(turn: FollowedTurn, goal: Goal | undefined): Promise<void> {
    const { send } = this.#options;
    const isCut = goal?.turn === turn.id && goal.sequence !== "end" && goal.sequence !== "spoken";
    const isContinued = this.#isBegun && turn.position === this.#point.position;
    this.#turn = turn.id;
    this.#isSpeaking = turn.speech === "open";
    if (!isContinued) {
      this.#isBegun = true;
      this.#point = { position: turn.position, sequence: -1 };
      await send(turnStartEvent(turn));
    }
    for (const block of turn.blocks) {
      if (!block.isMemory) await this.#showBlock(turn, block);
      this.#point = { position: turn.position, sequence: block.sequence };
    }
    if (turn.state === "running" || isCut) return;
    this.#open = undefined;
    if (!this.has({ turn: turn.id, sequence: "end" })) {
      this.#point = { position: turn.position, sequence: "end" };
      await send(turnCompleteEvent(turn));
    }
    if (turn.speech !== "over") return;
    this.#point = { position: turn.position, sequence: "spoken" };
    await send(turnSpokenEvent(turn));
  }

  async #showBlock(turn: FollowedTurn, block: TurnBlock): Promise<void> {
    const { send } = this.#options;
    const open = this.#open?.turn === turn.id && this.#open.sequence === block.sequence ? this.#open : undefined;
    if (!open) await send(blockStartEvent(block, turn));
    const delta = open?.hasDelta === true ? undefined : wholeDeltaEvent(block, turn);
    if (delta) await send(delta);
    this.#open = undefined;
    await send(blockStopEvent(block, turn));
  }
}

/** Whether a turn was loaded with everything up to the goal. That part of the turn no longer changes. */
function reaches({ id, blocks, state, speech }: FollowedTurn, { turn, sequence }: Goal): boolean {
  if (id !== turn) return false;
  if (typeof sequence === "number") return (blocks.at(-1)?.sequence ?? -1) >= sequence;
  return sequence === "start" || (sequence === "end" ? state !== "running" : speech === "over");
}

function lastSequence({ sequence }: Goal): number | undefined {
  if (sequence === "start") return -1;
  return typeof sequence === "number" ? sequence : undefined;
}

/**
 * Returns a number that orders the points of a turn: the turn's end comes after all its blocks, and the end of its
 * speech comes last.
 */
function placeOf(sequence: RecordPoint["sequence"]): number {
  if (typeof sequence === "number") return sequence;
  return sequence === "end" ? Number.MAX_SAFE_INTEGER - 1 : Number.MAX_SAFE_INTEGER;
}

/** How long to wait for content that a live event has announced but that is not stored yet. */
export const STORE_LIMIT_MS = 10_000;
const MAX_RETRY_MS = 250;

interface UntilOptions {
  readonly closed: AbortSignal;
  /** @defaultValue 10000 */
  readonly limitMs?: number;
}

/**
 * Calls `read` repeatedly until it neither throws nor returns `false`. Returns `false` if that takes longer than
 * `limitMs` or the reader disconnects.
 */
export async function readUntil(
  read: () => Promise<boolean | void>,
  { closed, limitMs = STORE_LIMIT_MS }: UntilOptions,
): Promise<boolean> {
  const giveUpAt = performance.now() + limitMs;
  for (let waitMs = 5; !closed.aborted; waitMs = Math.min(waitMs * 2, MAX_RETRY_MS)) {
    const isDone = await read().then(
      (has) => has ?? true,
      () => false,
    );
    if (isDone) return true;
    if (performance.now() > giveUpAt) return false;
    await sleep(waitMs, undefined, { signal: closed }).catch(() => {});
  }
  return false;
}
