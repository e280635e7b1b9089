/** The time that a call has; it stands still while somebody is asked. */
export class Deadline {
  readonly #onOver: () => void;
  #leftMs: number;
  #timer: NodeJS.Timeout | undefined;
  #runsSince = 0;

  constructor(ms: number, onOver: () => void) {
    this.#leftMs = ms;
    this.#onOver = onOver;
    this.start();
  }

  start(): void {
    this.#runsSince = performance.now();
    this.#timer ??= setTimeout(this.#onOver, this.#leftMs);
  }

  stop(): void {
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#runsSince));
  }

  /** Milliseconds since the epoch, while it runs. */
  get at(): number {
    return Math.round(Date.now() + this.#leftMs - (performance.now() - this.#runsSince));
  }
}
