import { didYouMean } from "../lib/checks/did-you-mean.ts";

type Handler<Value> = (value: Value) => void;

/** A typed event emitter. If a handler throws, `onThrow` is called and the other handlers still run. */
export class Emitter<Events> {
  readonly #handlers = new Map<keyof Events, Set<Handler<never>>>();
  readonly #names: Readonly<Record<keyof Events, true>>;
  readonly #onThrow: (error: unknown, event: keyof Events) => void;

  constructor(names: Readonly<Record<keyof Events, true>>, onThrow: (error: unknown, event: keyof Events) => void) {
    this.#names = names;
    this.#onThrow = onThrow;
  }

  /** Returns a function that ends the subscription. @throws {TypeError} for an unknown event */
  on<Name extends keyof Events>(event: Name, handler: Handler<Events[Name]>): () => void {
    const name = String(event);
    if (!Object.hasOwn(this.#names, event))
      throw new TypeError(`"${name}" is not an event.${didYouMean(name, Object.keys(this.#names))}`);
    const handlers = this.#handlers.get(event) ?? new Set<Handler<never>>();
    this.#handlers.set(event, handlers);
    // Wrapped, so that the same handler can be subscribed twice.
    const subscription: Handler<Events[Name]> = (value) => handler(value);
    handlers.add(subscription);
    return () => void handlers.delete(subscription);
  }

  emit<Name extends keyof Events>(event: Name, value: Events[Name]): void {
    for (const handler of [...(this.#handlers.get(event) ?? [])] as Handler<Events[Name]>[]) {
      try {
        handler(value);
      } catch (error) {
        this.#onThrow(error, event);
      }
    }
  }

  clear(): void {
    this.#handlers.clear();
  }
}
