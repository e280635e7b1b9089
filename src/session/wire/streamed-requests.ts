/** Requests that are on their way as streams, which packets overtake: what follows a request waits until it is out. */
export class StreamedRequests {
  readonly #streaming = new Map<string, Promise<void>>();

  follow(id: string, sent: Promise<void>): void {
    const over = sent.catch(() => {});
    this.#streaming.set(id, over);
    void over.then(() => this.#streaming.get(id) === over && this.#streaming.delete(id));
  }

  /** At once where nothing is on its way. */
  after(id: string, send: () => void): void {
    const streaming = this.#streaming.get(id);
    if (streaming) void streaming.then(send);
    else send();
  }
}
