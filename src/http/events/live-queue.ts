import type { LiveEvent } from "../../session/events/live-event.ts";
import type { LiveFollower } from "./event-source.ts";

/** How many events may wait for a slow reader. A reader that falls further behind receives the rest from the store. */
const MAX_WAITING = 5_000;
const MAX_WAITING_LENGTH = 1024 * 1024;

/** `gap`: events were missed. `quiet`: none arrived in time. `closed`: the reader has disconnected. */
export type NextLive = LiveEvent | "gap" | "quiet" | "closed";

/** Queues live events for one reader, in order. When too many wait, a single `gap` replaces them all. */
export class LiveQueue implements LiveFollower {
  readonly #closed: AbortSignal;
  readonly #waiting: { readonly event: LiveEvent | "gap"; readonly length: number }[] = [];
  #waitingLength = 0;
  #wake = () => {};

  constructor(closed: AbortSignal) {
    this.#closed = closed;
    closed.addEventListener("abort", () => this.#wake(), { once: true });
  }

  onEvent(event: LiveEvent | "gap", length: number): void {
    this.#waiting.push({ event, length });
    this.#waitingLength += length;
    if (this.#waiting.length > MAX_WAITING || this.#waitingLength > MAX_WAITING_LENGTH) {
      this.#waiting.splice(0, this.#waiting.length, { event: "gap", length: 0 });
      this.#waitingLength = 0;
    }
    this.#wake();
  }

  onGap(): void {
    if (this.#waiting.at(-1)?.event !== "gap") this.onEvent("gap", 0);
  }

  /**
   * Waits for the next event, for at most `quietMs` if set. Must not be called again before the returned promise has
   * settled.
   */
  async next(quietMs?: number): Promise<NextLive> {
    for (;;) {
      if (this.#closed.aborted) return "closed";
      const next = this.#waiting.shift();
      if (next) {
        this.#waitingLength -= next.length;
        return next.event;
      }
      if (await this.#isQuiet(quietMs)) return "quiet";
    }
  }

  async #isQuiet(quietMs: number | undefined): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#wake = () => resolve(false);
    const timer = quietMs === undefined ? undefined : setTimeout(() => resolve(true), quietMs);
    const isQuiet = await promise;
    clearTimeout(timer);
    return isQuiet;
  }
}
