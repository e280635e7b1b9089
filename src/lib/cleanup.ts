/** Closes resources in reverse order. Replaces AsyncDisposableStack, which Node 22 does not have. */
export class Cleanup implements AsyncDisposable {
  readonly #closers: (() => unknown)[] = [];
  #isDisposed = false;

  get disposed(): boolean {
    return this.#isDisposed;
  }

  defer(close: () => unknown): void {
    this.#closers.push(close);
  }

  use<Resource extends AsyncDisposable>(resource: Resource): Resource {
    this.defer(() => resource[Symbol.asyncDispose]());
    return resource;
  }

  /** Moves all closers to a new Cleanup and returns it. Afterwards, this Cleanup has nothing left to close. */
  move(): Cleanup {
    const other = new Cleanup();
    other.#closers.push(...this.#closers.splice(0));
    return other;
  }

  /** Closes everything, even if a closer throws. Does nothing when called again. */
  async disposeAsync(): Promise<void> {
    this.#isDisposed = true;
    const errors: unknown[] = [];
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors, "Closing failed");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.disposeAsync();
  }
}
