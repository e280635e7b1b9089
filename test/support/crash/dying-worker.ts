import type { Sql } from "../../../src/store/database/pool.ts";

/** A promise that never settles: a dead worker receives nothing. */
export const never = <Value>(): Promise<Value> => new Promise(() => {});

/** How the database fails one statement: it refuses the statement, or runs it, but the answer is lost. */
export type Failure = "refused" | "answer lost";

/** All workers' access to the real database: counts the statements in progress, and makes planned statements fail. */
export class Traffic {
  count = 0;
  #sent = 0;
  readonly #failures: ReadonlyMap<number, Failure>;

  /** @param failures by the number of the statement, counted over all workers */
  constructor(failures: ReadonlyMap<number, Failure> = new Map()) {
    this.#failures = failures;
  }

  /** Runs one of a worker's statements. A planned failure has the code of a database that is short of resources. */
  async statement(send: () => PromiseLike<unknown>): Promise<unknown> {
    const failure = this.#failures.get(++this.#sent);
    const rows = failure === "refused" ? undefined : await this.through(send());
    if (failure) throw Object.assign(new Error(`The statement has failed: ${failure}`), { code: "53400" });
    return rows;
  }

  async through<Value>(work: PromiseLike<Value>): Promise<Value> {
    this.count++;
    try {
      return await work;
    } finally {
      this.count--;
    }
  }
}

/**
 * A worker that dies or freezes after its n-th external effect: a statement sent or answered, a message published, a
 * tool started, a model request. From then on it does nothing and receives nothing. A frozen worker wakes up later and
 * continues where it was, although another worker now owns its session.
 */
export class DyingWorker {
  readonly number: number;
  state: "alive" | "gone" | "awake again" = "alive";
  #left: number;
  readonly #onGone: () => void;
  readonly #awake = Promise.withResolvers<void>();

  constructor(number: number, { effects, onGone }: { readonly effects: number; readonly onGone: () => void }) {
    this.number = number;
    this.#left = effects;
    this.#onGone = onGone;
  }

  get isAlive(): boolean {
    return this.state !== "gone";
  }

  /**
   * Resolves at once if the worker is alive. A frozen worker's promise resolves when it wakes up, a dead worker's
   * never.
   */
  untilAwake(): Promise<void> {
    return this.isAlive ? Promise.resolve() : this.#awake.promise;
  }

  wake(): void {
    this.state = "awake again";
    this.#awake.resolve();
  }

  /** Call this after each effect. Resolves while the worker is alive. */
  effect(): Promise<void> {
    this.#left -= 1;
    if (this.#left <= 0) this.end();
    return this.untilAwake();
  }

  /** Ends the worker's activity. Another worker follows, unless one has replaced this worker while it was frozen. */
  end(): void {
    if (this.state !== "alive") return;
    this.state = "gone";
    this.#onGone();
  }

  /** The database as this worker sees it. */
  sql(real: Sql, traffic: Traffic): Sql {
    return new Proxy(real, {
      apply: (target, self, values: unknown[]) => {
        const query = Reflect.apply(target, self, values) as Promise<unknown>;
        if (!isTemplate(values[0])) return query;
        // Statements for live events do not count as effects, because nothing depends on them.
        const isCounted = !values[0].join("").includes("json_array_elements_text(");
        const then = query.then.bind(query);
        let answer: Promise<unknown> | undefined;
        const ask = async () => {
          await this.untilAwake();
          const send = () => new Promise((...on) => void then(...on));
          const answered = isCounted ? traffic.statement(send) : traffic.through(send());
          answered.catch(() => {});
          if (isCounted) await this.effect();
          const rows = await answered;
          if (isCounted) await this.effect();
          await this.untilAwake();
          return rows;
        };
        return Object.assign(query, {
          // oxlint-disable-next-line unicorn/no-thenable -- a statement is sent when it is awaited, or is part of another
          then: (...on: Parameters<Promise<unknown>["then"]>) => (answer ??= ask()).then(...on),
        });
      },
    });
  }
}

function isTemplate(value: unknown): value is readonly string[] {
  return Array.isArray(value) && "raw" in value;
}
