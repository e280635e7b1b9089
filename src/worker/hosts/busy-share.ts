import { mainThreadMs, mainThreadWaitedMs } from "../process/running-processes.ts";

/** Time between two measurements. The results are smoothed, because joins and first turns come in bursts. */
const SAMPLE_MS = 2_000;
const SMOOTH_OVER = 4;

/** How busy a process's main thread was recently: its share of the core time not used by other processes, 0 to 1. */
export class BusyShare {
  readonly #pid: number;
  #last: { readonly at: number; readonly computedMs: number; readonly waitedMs: number };
  #share = 0;

  constructor(pid: number) {
    this.#pid = pid;
    this.#last = this.#look();
  }

  /** Measures if `SAMPLE_MS` have passed since the last measurement. Call this more often than that. */
  sample(): void {
    if (performance.now() - this.#last.at < SAMPLE_MS) return;
    const before = this.#last;
    this.#last = this.#look();
    const ms = this.#last.at - before.at - (this.#last.waitedMs - before.waitedMs);
    const share = Math.min(1, (this.#last.computedMs - before.computedMs) / Math.max(1, ms));
    this.#share += (share - this.#share) / SMOOTH_OVER;
  }

  get share(): number {
    return this.#share;
  }

  #look() {
    return {
      at: performance.now(),
      computedMs: mainThreadMs(this.#pid),
      waitedMs: mainThreadWaitedMs(this.#pid),
    };
  }
}
