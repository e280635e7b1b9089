import type { TurnQueue } from "./turn-queue.ts";

interface PassingOverOptions {
  readonly queue: Pick<TurnQueue, "hasWaiting" | "isOtherWaiting" | "abort">;
  readonly calls: {
    readonly isOnlyWaiting: (turnId: string) => boolean;
    readonly patienceLeft: (turnId: string) => number | undefined;
  };
  /** Of the turn that is being answered. */
  readonly turnId: () => string | undefined;
}

/**
 * Ends a turn that only waits for permissions when another turn waits, and one that only waits for its own participant's
 * device when another participant's has waited for long. Its calls go on without it.
 */
export class PassingOver {
  readonly #options: PassingOverOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: PassingOverOptions) {
    this.#options = options;
  }

  /** Call it whenever that may be so. */
  check(): void {
    this.close();
    const { queue, calls } = this.#options;
    const turnId = this.#options.turnId();
    if (!queue.hasWaiting || turnId === undefined) return;
    if (calls.isOnlyWaiting(turnId)) return queue.abort("interrupted");
    const leftMs = queue.isOtherWaiting ? calls.patienceLeft(turnId) : undefined;
    if (leftMs === 0) queue.abort("passed_over");
    else if (leftMs !== undefined) this.#timer = setTimeout(() => this.check(), leftMs);
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
