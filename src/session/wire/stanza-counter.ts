const RESERVED_AT_ONCE = 1_000;
const RESERVE_BELOW = 200;

/**
 * The worker's stanza numbers: -1, -2, -3 and on, never the same twice in a session, not even after a crash. Numbers
 * are reserved in the store ahead of time, so taking one never waits.
 */
export class StanzaCounter {
  #last: number;
  #reservedUntil: number;
  readonly #reserve: (count: number) => Promise<number>;
  #isReserving = false;

  /** @param reserve stores that `count` more numbers are in use and resolves with the first of them, positive */
  constructor(reserve: (count: number) => Promise<number>, first: number) {
    this.#reserve = reserve;
    this.#last = first - 1;
    this.#reservedUntil = first + RESERVED_AT_ONCE - 1;
  }

  static async open(reserve: (count: number) => Promise<number>): Promise<StanzaCounter> {
    return new StanzaCounter(reserve, await reserve(RESERVED_AT_ONCE));
  }

  /** The last number that was taken, positive. */
  get last(): number {
    return this.#last;
  }

  next(): number {
    this.#last += 1;
    if (this.#reservedUntil - this.#last < RESERVE_BELOW) void this.#reserveMore();
    return -this.#last;
  }

  /** While the store is away numbers go on past what is reserved: a message is worth more than a gapless restart. */
  async #reserveMore(): Promise<void> {
    if (this.#isReserving) return;
    this.#isReserving = true;
    try {
      const first = await this.#reserve(RESERVED_AT_ONCE);
      this.#reservedUntil = first + RESERVED_AT_ONCE - 1;
    } catch {
      // Tried again with the next number.
    } finally {
      this.#isReserving = false;
    }
  }
}
