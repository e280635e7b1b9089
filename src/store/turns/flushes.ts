import { AppError } from "../../errors/app-error.ts";

interface Flush {
  /** It speaks for what was added after `from`, up to and with `to`. */
  readonly from: number;
  readonly to: number;
  readonly timer: NodeJS.Timeout;
  readonly resolve: () => void;
  readonly reject: (error: AppError) => void;
}

export interface FlushRequest {
  /** Number of the last thing added. */
  readonly to: number;
  readonly timeoutMs: number;
  /** What keeps the database from answering, as far as is known when the time is over. */
  readonly cause: () => unknown;
}

/** Those who wait until what was added before is durable. Every loss is told to each flush that speaks for it. */
export class Flushes {
  readonly #waiting = new Set<Flush>();
  #losses: { readonly number: number; readonly error: AppError }[] = [];
  /** Flushes that have ended spoke for everything up to this number. */
  #told = 0;

  /** Registers at once; `settle` ends it, or the timeout with `unavailable`. */
  async wait({ to, timeoutMs, cause }: FlushRequest): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onTimeout = () => {
      this.#waiting.delete(flush);
      const message = `The database did not store the conversation within ${timeoutMs} ms`;
      reject(new AppError("unavailable", message, { cause: cause() }));
    };
    const timer = setTimeout(onTimeout, timeoutMs);
    const flush = { from: this.#told, to, timer, resolve, reject };
    this.#waiting.add(flush);
    await promise;
  }

  lose(number: number, error: AppError): void {
    this.#losses.push({ number, error });
  }

  /** Ends the flushes that wait for nothing from `firstOpen` on. */
  settle(firstOpen: number): void {
    for (const flush of this.#waiting) {
      if (flush.to >= firstOpen) continue;
      clearTimeout(flush.timer);
      this.#waiting.delete(flush);
      this.#told = Math.max(this.#told, flush.to);
      const loss = this.#losses.find(({ number }) => number > flush.from && number <= flush.to);
      if (loss) flush.reject(loss.error);
      else flush.resolve();
    }
    const speaksFrom = Math.min(this.#told, ...Array.from(this.#waiting, (flush) => flush.from));
    this.#losses = this.#losses.filter(({ number }) => number > speaksFrom);
  }
}
