/**
 * Calls `onIdle` once when a reader has waited too long for progress. Only the time between `wait` and `pause` counts,
 * so a slow consumer is never mistaken for a silent sender. Each event costs two clock readings and sets no timer.
 */
export class IdleWatchdog {
  readonly #onIdle: () => void;
  #limitMs: number;
  #waitedMs = 0;
  #waitingSince: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(limitMs: number, onIdle: () => void) {
    this.#limitMs = limitMs;
    this.#onIdle = onIdle;
    this.#arm(limitMs);
  }

  wait(): void {
    this.#waitingSince = performance.now();
  }

  /** Ends a wait. If there was no progress, the waiting time counts toward the next wait. */
  pause(progress: boolean): void {
    this.#waitedMs = progress ? 0 : this.#waited();
    this.#waitingSince = undefined;
  }

  /** Changes the limit, including for a wait in progress. */
  setLimit(limitMs: number): void {
    if (limitMs === this.#limitMs) return;
    const isShorter = limitMs < this.#limitMs;
    this.#limitMs = limitMs;
    if (isShorter) this.#arm(limitMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #waited(): number {
    return this.#waitingSince === undefined ? 0 : this.#waitedMs + performance.now() - this.#waitingSince;
  }

  #arm(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const leftMs = this.#limitMs - this.#waited();
      // Timers may fire up to 1 ms early.
      if (leftMs <= 1) this.#onIdle();
      else this.#arm(leftMs);
    }, delayMs);
  }
}
