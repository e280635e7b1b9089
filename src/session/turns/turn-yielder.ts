import type { TurnQueue } from "./turn-queue.ts";

interface TurnYielderOptions {
  readonly queue: Pick<TurnQueue, "hasWaiting" | "isOtherWaiting" | "abort">;
  readonly calls: {
    readonly isOnlyWaiting: (turnId: string) => boolean;
    readonly yieldAfterMs: (turnId: string) => number | undefined;
  };
  /** Returns the id of the running turn. */
  readonly turnId: () => string | undefined;
}

/**
 * Ends a turn that holds up the queue; its calls continue. A turn that waits only for permissions ends as soon as
 * another turn is waiting. A turn that waits only for its own participant's device ends once its time limit has passed,
 * if another participant's turn is waiting.
 */
export class TurnYielder {
  readonly #options: TurnYielderOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: TurnYielderOptions) {
    this.#options = options;
  }

  /** Call this whenever the queue or the turn's calls have changed. */
  check(): void {
    this.close();
    const { queue, calls } = this.#options;
    const turnId = this.#options.turnId();
    if (!queue.hasWaiting || turnId === undefined) return;
    if (calls.isOnlyWaiting(turnId)) return queue.abort("interrupted");
    const leftMs = queue.isOtherWaiting ? calls.yieldAfterMs(turnId) : undefined;
    if (leftMs === 0) queue.abort("passed_over");
    else if (leftMs !== undefined) this.#timer = setTimeout(() => this.check(), leftMs);
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
