import { type KitFault, SubjectFault } from "../check.ts";

const DEFAULT_WITHIN_MS = 5_000;

/** Everything received from the subject, in order, with a way to wait for more. */
export class Inbox<Item> {
  readonly items: Item[] = [];
  readonly #waiting = new Set<() => void>();
  #whyNoMore: string | undefined;
  #kitFault: KitFault | undefined;

  add(item: Item): void {
    this.items.push(item);
    this.#wake();
  }

  /** Records why nothing more will arrive. Pending `next` calls reject. */
  end(why: string): void {
    this.#whyNoMore ??= why;
    this.#wake();
  }

  /** Records a fault of the kit. From now on, `next` rejects with this fault instead of a fault of the subject. */
  blame(fault: KitFault): void {
    this.#kitFault ??= fault;
    this.#wake();
  }

  /**
   * Waits until `look` finds something among the items, and returns it.
   *
   * @throws {SubjectFault} if `look` finds nothing in time or nothing more will arrive, {KitFault} after `blame`
   */
  async next<Found>(
    look: (items: readonly Item[]) => Found | undefined,
    what: string,
    withinMs = DEFAULT_WITHIN_MS,
  ): Promise<Found> {
    const giveUpAt = performance.now() + withinMs;
    for (;;) {
      if (this.#kitFault) throw this.#kitFault;
      const found = look(this.items);
      if (found !== undefined) return found;
      if (this.#whyNoMore !== undefined) throw new SubjectFault(`${what} did not arrive: ${this.#whyNoMore}`);
      const leftMs = giveUpAt - performance.now();
      if (leftMs <= 0) throw new SubjectFault(`${what} did not arrive within ${withinMs} ms`);
      await this.#change(leftMs);
    }
  }

  async #change(withinMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, withinMs);
    this.#waiting.add(resolve);
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(resolve);
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
