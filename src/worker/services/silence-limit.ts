/** How long a way to get a program may be silent before the next way is tried. */
const SILENT_MS = 3_000;

/** A signal that aborts after three seconds in which `reset` was not called. */
export class SilenceLimit implements Disposable {
  readonly #controller = new AbortController();
  readonly #timer = setTimeout(() => this.#controller.abort(), SILENT_MS);

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  reset(): void {
    this.#timer.refresh();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
