/** A check of 100,000 steps takes a few milliseconds. */
const MAX_STEPS = 100_000;
/** Schemas inside each other, by reference too: each takes a part of the stack. */
const MAX_DEPTH = 256;

/** What a check may cost: whoever writes a schema chooses how often each value is looked at, and how deep. */
export class Steps {
  #left = MAX_STEPS;
  #depth = 0;

  /** @throws {TooManyStepsError} */
  spend(count = 1): void {
    this.#left -= count;
    if (this.#left < 0) throw new TooManyStepsError();
  }

  /** @throws {TooManyStepsError} */
  enter(count: number): void {
    this.spend(count);
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new TooManyStepsError();
  }

  leave(): void {
    this.#depth -= 1;
  }
}

export class TooManyStepsError extends Error {}
