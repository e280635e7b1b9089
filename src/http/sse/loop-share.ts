import { setImmediate as nextTick } from "node:timers/promises";

/** How long a server's streams may prepare events without a pause. */
const MAX_MS = 10;
/**
 * How many bytes a server's streams may prepare without a pause. The time limit alone is not enough, because Node
 * writes to the sockets only after the tick.
 */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Limits how much of the event loop the streams use. Hundreds of streams of one session may receive an event in the
 * same tick, and writing to all of them takes a while. Once a limit is reached, the remaining streams wait for the next
 * tick, so that other work can run.
 */
export class LoopShare {
  #since = 0;
  #bytes = 0;
  #next: Promise<void> | undefined;

  /** Resolves when the caller may write this many bytes: at once, or in one of the next ticks. */
  async turn(bytes: number): Promise<void> {
    for (;;) {
      this.#next ??= this.#begin();
      const hasTime = performance.now() - this.#since < MAX_MS;
      if (hasTime && (this.#bytes === 0 || this.#bytes + bytes <= MAX_BYTES)) break;
      await this.#next;
    }
    this.#bytes += bytes;
  }

  async #begin(): Promise<void> {
    this.#since = performance.now();
    this.#bytes = 0;
    await nextTick();
    this.#next = undefined;
  }
}
