/** Starts reading a stream immediately, and buffers its items for one later reader. */
export class BufferedStream<Item> {
  readonly #controller = new AbortController();
  readonly #items: Item[] = [];
  #end: { readonly error?: unknown } | undefined;
  #news = Promise.withResolvers<void>();

  /** @param onItem called with each item as it arrives, before a reader receives it; must not throw */
  constructor(open: (signal: AbortSignal) => AsyncIterable<Item>, onItem: (item: Item) => void = () => {}) {
    void this.#read(open, onItem);
  }

  get hasFailed(): boolean {
    return this.#end !== undefined && "error" in this.#end;
  }

  /** Ends the stream. A reader receives the reason as an error. */
  abort(reason?: unknown): void {
    this.#controller.abort(reason);
  }

  /** Yields all items, starting with the first. The stream ends when the reader stops or the signal aborts. */
  async *read(signal: AbortSignal): AsyncGenerator<Item, void> {
    const abort = () => this.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    try {
      for (;;) {
        const news = this.#news.promise;
        yield* this.#items.splice(0);
        if (this.#items.length > 0) continue;
        if (this.#end && "error" in this.#end) throw this.#end.error;
        if (this.#end) return;
        await news;
      }
    } finally {
      signal.removeEventListener("abort", abort);
      this.abort();
    }
  }

  async #read(open: (signal: AbortSignal) => AsyncIterable<Item>, onItem: (item: Item) => void): Promise<void> {
    try {
      const { signal } = this.#controller;
      for await (const item of open(signal)) {
        // Drops an item that arrives just after the stream was aborted.
        signal.throwIfAborted();
        onItem(item);
        this.#items.push(item);
        this.#notify();
      }
      this.#end = {};
    } catch (error) {
      this.#end = { error };
    }
    this.#notify();
  }

  #notify(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }
}
