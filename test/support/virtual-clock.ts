import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/**
 * Time that passes only when nothing is left to do at the present moment: a minute of timers takes a millisecond. While
 * installed, the clock replaces `setTimeout`, including that of node:timers/promises, `setInterval`,
 * `AbortSignal.timeout`, `Date.now` and `performance.now`.
 */
export class VirtualClock implements Disposable {
  /** Milliseconds since the epoch. */
  now = 1_700_000_000_000;
  /** How far `Date.now` is ahead of `now`, as after someone has set the system's clock. */
  skewMs = 0;
  readonly #timers = new Map<number, Timer>();
  readonly #real = {
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    setInterval: globalThis.setInterval,
    clearInterval: globalThis.clearInterval,
    sleep: timers.setTimeout,
    signalTimeout: Object.getOwnPropertyDescriptor(AbortSignal, "timeout") ?? {},
    dateNow: Object.getOwnPropertyDescriptor(Date, "now") ?? {},
  };
  #lastId = 0;
  readonly #isBusy: () => boolean;

  /** @param isBusy whether something that takes real time is in progress, during which no virtual time passes */
  constructor(isBusy: () => boolean = () => false) {
    this.#isBusy = isBusy;
    globalThis.setTimeout = ((run: (...values: unknown[]) => void, ms = 0, ...values: unknown[]) => {
      const id = this.after(ms, () => run(...values));
      const timer = { [Symbol.toPrimitive]: () => id, ref: () => timer, unref: () => timer, hasRef: () => true };
      return timer;
    }) as unknown as typeof setTimeout;
    globalThis.clearTimeout = ((timer: unknown) => {
      if (timer !== undefined && timer !== null) this.#timers.delete(Number(timer));
    }) as typeof clearTimeout;
    globalThis.setInterval = ((run: () => void, ms = 1) => {
      const again = () => {
        timer.id = this.after(ms, again);
        run();
      };
      const timer = { id: this.after(ms, again), [Symbol.toPrimitive]: () => timer.id, unref: () => timer };
      return timer;
    }) as unknown as typeof setInterval;
    globalThis.clearInterval = globalThis.clearTimeout as typeof clearInterval;
    this.#takeSleep(((ms, value, options) => this.#sleep(ms, value, options)) as typeof timers.setTimeout);
    AbortSignal.timeout = (ms) => {
      const controller = new AbortController();
      this.after(ms, () => controller.abort(new DOMException("It took too long", "TimeoutError")));
      return controller.signal;
    };
    Date.now = () => Math.floor(this.now + this.skewMs);
    performance.now = () => this.now;
  }

  after(ms: number, run: () => void): number {
    this.#timers.set(++this.#lastId, { at: this.now + Math.max(0, Number.isNaN(ms) ? 0 : ms), run });
    return this.#lastId;
  }

  #sleep<Value>(
    ms = 0,
    value?: Value,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<Value | undefined> {
    return new Promise((resolve, reject) => {
      const aborted = () => {
        this.#timers.delete(id);
        reject(new DOMException("The operation was aborted", "AbortError"));
      };
      const id = this.after(ms, () => {
        signal?.removeEventListener("abort", aborted);
        resolve(value);
      });
      if (signal?.aborted) aborted();
      else signal?.addEventListener("abort", aborted, { once: true });
    });
  }

  #takeSleep(sleep: typeof timers.setTimeout): void {
    timers.setTimeout = sleep;
    syncBuiltinESMExports();
  }

  /** Lets `untilMs` pass, and runs each timer that is due in this time. */
  async run(untilMs: number): Promise<void> {
    const end = this.now + untilMs;
    for (;;) {
      do await untilIdle();
      while (this.#isBusy());
      const next = this.#next();
      if (!next || next[1].at > end) break;
      this.#timers.delete(next[0]);
      this.now = Math.max(this.now, next[1].at);
      next[1].run();
    }
    this.now = end;
  }

  /** The earliest timer. Among equals, the one that was set first. */
  #next(): [number, Timer] | undefined {
    let earliest: [number, Timer] | undefined;
    for (const entry of this.#timers) if (!earliest || entry[1].at < earliest[1].at) earliest = entry;
    return earliest;
  }

  [Symbol.dispose](): void {
    globalThis.setTimeout = this.#real.setTimeout;
    globalThis.clearTimeout = this.#real.clearTimeout;
    globalThis.setInterval = this.#real.setInterval;
    globalThis.clearInterval = this.#real.clearInterval;
    this.#takeSleep(this.#real.sleep);
    Object.defineProperty(AbortSignal, "timeout", this.#real.signalTimeout);
    Object.defineProperty(Date, "now", this.#real.dateNow);
    // The constructor has set an own `now`, which hides the one on the prototype.
    Reflect.deleteProperty(performance, "now");
  }
}

/** Waits longer than code that collects work for one `setImmediate`, or for two, before it continues. */
async function untilIdle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
}
