import { mainThreadMs, mainThreadWaitedMs } from "../process/running-processes.ts";

/** Measures what a process's main thread has done since its last answer. */
export class Unresponsiveness {
  readonly #pid: number;
  #answeredAt = performance.now();
  #computedBefore = 0;
  #waitedBefore = 0;

  constructor(pid: number) {
    this.#pid = pid;
    this.reset();
  }

  /** Call this when the process has answered. */
  reset(): void {
    this.#answeredAt = performance.now();
    this.#computedBefore = mainThreadMs(this.#pid);
    this.#waitedBefore = mainThreadWaitedMs(this.#pid);
  }

  /** Restarts only `ms`. Call this if answers may have arrived that were not read yet. */
  restart(): void {
    this.#answeredAt = performance.now();
  }

  get ms(): number {
    return performance.now() - this.#answeredAt;
  }

  get computedMs(): number {
    return mainThreadMs(this.#pid) - this.#computedBefore;
  }

  /** How long the thread has neither computed nor waited for a core; 0 if the system does not report waiting times. */
  get asleepMs(): number {
    const waitedMs = mainThreadWaitedMs(this.#pid);
    if (waitedMs === 0) return 0;
    return Math.max(0, this.ms - this.computedMs - (waitedMs - this.#waitedBefore));
  }
}
