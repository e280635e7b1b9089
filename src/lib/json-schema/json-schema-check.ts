import { isRecord } from "../json.ts";

export interface Problem {
  readonly path: readonly string[];
  readonly message: string;
}

export type Schema = Readonly<Record<string, unknown>>;
export type Check = (value: unknown, steps: Steps) => Problem | undefined;
export interface Compiler {
  readonly compile: (schema: unknown) => Check;
  /** Whether the schema is untrusted. Its regular expressions are not run, because their cost is unbounded. */
  readonly isForeign: boolean;
  /**
   * Whether any keyword is left unchecked. An unchecked keyword always passes, so `not`, `if`, `oneOf` and
   * `maxContains` must not reject a value because it matches a schema. The value is final once everything is compiled.
   */
  isPartial: boolean;
}
/** Compiles one keyword into a check. `schema` is the schema that contains the keyword. */
export type Keyword = (operand: never, schema: Schema, compiler: Compiler) => Check;

/** A check that always passes. It costs a step, because callers may call it for each item of a value. */
export const ok: Check = (_value, steps) => steps.spend() as undefined;
export const wrong = (message: string): Problem => ({ path: [], message });
export const at = (key: string, problem: Problem | undefined): Problem | undefined =>
  problem && { ...problem, path: [key, ...problem.path] };
export const check =
  (holds: (value: unknown, steps: Steps) => boolean, message: string): Check =>
  (value, steps) =>
    holds(value, steps) ? undefined : wrong(message);

export function first<Item>(items: Iterable<Item>, find: (item: Item) => Problem | undefined): Problem | undefined {
  for (const item of items) {
    const problem = find(item);
    if (problem) return problem;
  }
  return undefined;
}

export function expect(holds: boolean, what: string): void {
  if (!holds) throw new TypeError(`its schema is invalid: expected ${what}`);
}
export const isSchema = (schema: unknown) => isRecord(schema) || typeof schema === "boolean";
export const isTextList = (list: unknown): list is readonly string[] =>
  Array.isArray(list) && list.every((item) => typeof item === "string");

export function keysOf(value: object, steps: Steps): string[] {
  const keys = Object.keys(value);
  steps.spend(keys.length);
  return keys;
}

/** Returns the check for a keyword that is left unchecked, and sets `isPartial`. */
export function unchecked(compiler: Compiler): Check {
  compiler.isPartial = true;
  return ok;
}

/** How many steps a check may take. 100,000 steps take a few milliseconds. */
const MAX_STEPS = 100_000;
/**
 * How long a check may take. This second limit applies in case a step costs more than expected. The time is measured
 * once per `CHECK_EVERY_STEPS` steps.
 */
const MAX_MS = 10;
const CHECK_EVERY_STEPS = 5_000;
/** The maximum nesting of schemas, including references. Each level uses stack space. */
const MAX_DEPTH = 256;

/** The budget of one check. Without it, a schema's author could decide how often and how deeply a value is visited. */
export class Steps {
  #stepsLeft = MAX_STEPS;
  #nextCheckAt = MAX_STEPS - CHECK_EVERY_STEPS;
  #depth = 0;
  readonly #endsAt = Date.now() + MAX_MS;

  /**
   * Spends steps, one for each iteration of a loop. Every loop whose length depends on the value or the schema must
   * call this.
   *
   * @throws {TooManyStepsError}
   */
  spend(count = 1): void {
    this.#stepsLeft -= count;
    if (this.#stepsLeft >= this.#nextCheckAt) return;
    this.#nextCheckAt = Math.max(0, this.#stepsLeft - CHECK_EVERY_STEPS);
    if (this.#stepsLeft < 0 || Date.now() > this.#endsAt) throw new TooManyStepsError();
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
