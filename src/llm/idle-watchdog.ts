/**
 * Calls `onIdle` once when a reader has waited too long for progress. Only the time between `wait` and `pause` counts,
 * so a slow consumer never looks like a silent sender. An event costs two clock readings and sets no timer.
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

  /** Ends a wait. Without `progress` its time is added to the next one. */
  pause(progress: boolean): void {
    this.#waitedMs = progress ? 0 : this.#waited();
    this.#waitingSince = undefined;
  }

  /** Sets the limit from now on, also for a wait that has begun. */
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
      // Timers may run up to 1 ms early.
      if (leftMs <= 1) this.#onIdle();
      else this.#arm(leftMs);
    }, delayMs);
  }
}
