import type { Logger } from "pino";

const WINDOW_MS = 10_000;

/** The fields of a log line. Lines with equal fields count as one kind. */
type Kind = Readonly<Record<string, string | undefined>>;

interface Window {
  readonly kind: Kind;
  count: number;
  readonly timer: NodeJS.Timeout;
}

/**
 * Limits warnings that clients can trigger: logs the first line of each kind, and after 10 s one line with the number
 * of repeats.
 */
export class CountedLog {
  readonly #logger: Pick<Logger, "warn">;
  readonly #text: string;
  readonly #windows = new Map<string, Window>();

  constructor(logger: Pick<Logger, "warn">, text: string) {
    this.#logger = logger;
    this.#text = text;
  }

  /** Logs an occurrence. The error is logged only for the first one of a kind. */
  note(kind: Kind, error?: unknown): void {
    const key = JSON.stringify(kind);
    const known = this.#windows.get(key);
    if (known) {
      known.count += 1;
      return;
    }
    this.#logger.warn({ ...kind, ...(error !== undefined && { error }) }, this.#text);
    const timer = setTimeout(() => this.#end(key), WINDOW_MS);
    timer.unref();
    this.#windows.set(key, { kind, count: 0, timer });
  }

  close(): void {
    for (const key of this.#windows.keys()) this.#end(key);
  }

  #end(key: string): void {
    const window = this.#windows.get(key);
    if (!window) return;
    this.#windows.delete(key);
    clearTimeout(window.timer);
    const { kind, count } = window;
    if (count > 0) this.#logger.warn({ ...kind, count }, `${this.#text}, repeated`);
  }
}
