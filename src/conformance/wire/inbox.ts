import { type KitFault, SubjectFault } from "../check.ts";

const DEFAULT_WITHIN_MS = 5_000;

/** What has come from the subject, in order. It can be waited for. */
export class Inbox<Item> {
  readonly items: Item[] = [];
  readonly #waiting = new Set<() => void>();
  #whyNoMore: string | undefined;
  #kitFault: KitFault | undefined;

  add(item: Item): void {
    this.items.push(item);
    this.#wake();
  }

  /** Says that nothing more will come, and why. Waiters reject. */
  end(why: string): void {
    this.#whyNoMore ??= why;
    this.#wake();
  }

  /** Makes whatever is still missing the kit's fault. */
  blame(fault: KitFault): void {
    this.#kitFault ??= fault;
    this.#wake();
  }

  /**
   * Waits until `look` finds something in what has come, and gives that.
   *
   * @throws {SubjectFault} when it finds nothing in time, or nothing more will come; {KitFault} after `blame`
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
      if (this.#whyNoMore !== undefined) throw new SubjectFault(`${what} did not come: ${this.#whyNoMore}`);
      const leftMs = giveUpAt - performance.now();
      if (leftMs <= 0) throw new SubjectFault(`${what} did not come within ${withinMs} ms`);
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
