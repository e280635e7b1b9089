/** Collects the events in an opencode client's event stream. */
export class OpencodeEvents<Event extends { readonly type: string }> implements AsyncDisposable {
  readonly events: Event[] = [];
  readonly #abort: AbortController;
  readonly #over: Promise<void>;
  #wake = () => {};

  private constructor(stream: AsyncIterable<unknown>, abort: AbortController) {
    this.#abort = abort;
    this.#over = this.#read(stream);
  }

  /** Resolves once the stream is open and its first event has arrived. */
  static async open<Event extends { readonly type: string }>(
    subscribe: (signal: AbortSignal) => Promise<{ readonly stream: AsyncIterable<Event> }>,
  ): Promise<OpencodeEvents<Event>> {
    const abort = new AbortController();
    const { stream } = await subscribe(abort.signal);
    const events = new OpencodeEvents<Event>(stream, abort);
    await events.next("server.connected");
    return events;
  }

  all<Type extends Event["type"]>(type: Type): Extract<Event, { readonly type: Type }>[] {
    return this.events.filter((event): event is Extract<Event, { readonly type: Type }> => event.type === type);
  }

  /** The first event of a type that matches, among those received so far or within the next 10 s. */
  async next<Type extends Event["type"]>(
    type: Type,
    fits: (event: Extract<Event, { readonly type: Type }>) => boolean = () => true,
  ): Promise<Extract<Event, { readonly type: Type }>> {
    const giveUpAt = Date.now() + 10_000;
    for (;;) {
      const found = this.all(type).find(fits);
      if (found) return found;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, giveUpAt - Date.now());
      await promise;
      clearTimeout(timer);
      if (Date.now() >= giveUpAt) throw new Error(`No ${type}; got: ${JSON.stringify(this.events).slice(-2_000)}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#over;
  }

  async #read(stream: AsyncIterable<unknown>): Promise<void> {
    for await (const event of stream) {
      this.events.push(event as Event);
      this.#wake();
    }
  }
}
