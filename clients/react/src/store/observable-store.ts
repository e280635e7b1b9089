/** Base class for stores that React subscribes to with `useSyncExternalStore`. */
export abstract class ObservableStore {
  readonly #listeners = new Set<() => void>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  protected changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
