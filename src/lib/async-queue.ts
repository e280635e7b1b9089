/**
 * A first-in first-out queue with one reader (`for await`). `close` lets the reader finish what is queued, then ends
 * it; `fail` does the same and then throws. Pushing after either is ignored. Unbounded: the writer bounds it.
 */
export class AsyncQueue<Value> implements AsyncIterable<Value> {
  #values: Value[] = [];
  #wake: (() => void) | undefined;
  #ended = false;
  #error: { readonly reason: unknown } | undefined;

  push(value: Value): void {
    if (this.#ended) return;
    this.#values.push(value);
    this.#wake?.();
  }

  close(): void {
    this.#ended = true;
    this.#wake?.();
  }

  fail(reason: unknown): void {
    if (this.#ended) return;
    this.#error = { reason };
    this.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Value, void, undefined> {
    while (true) {
      const batch = this.#values;
      this.#values = [];
      yield* batch;
      if (this.#values.length > 0) continue;
      if (this.#error) throw this.#error.reason;
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}
