import { type Sql } from "../../../src/store/pool.ts";

/** What never comes: a dead worker hears of nothing. */
export const never = <Value>(): Promise<Value> => new Promise(() => {});

/** Statements that are under way on the real database, whoever sent them. */
export class Traffic {
  count = 0;

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
 * A worker that dies after its n-th effect on the world outside: a statement sent or answered, a message published, a
 * tool begun, a model asked. From then on it does nothing and hears of nothing.
 */
export class DyingWorker {
  readonly number: number;
  isAlive = true;
  #left: number;
  readonly #onDeath: () => void;

  constructor(number: number, { effects, onDeath }: { readonly effects: number; readonly onDeath: () => void }) {
    this.number = number;
    this.#left = effects;
    this.#onDeath = onDeath;
  }

  /** Call after the effect. Resolves for a worker that goes on. */
  effect(): Promise<void> {
    if (!this.isAlive) return never();
    this.#left -= 1;
    if (this.#left > 0) return Promise.resolve();
    this.isAlive = false;
    this.#onDeath();
    return never();
  }

  /** The database as this worker has it. */
  sql(real: Sql, traffic: Traffic): Sql {
    return new Proxy(real, {
      apply: (target, self, values: unknown[]) => {
        const query = Reflect.apply(target, self, values) as Promise<unknown>;
        if (!isTemplate(values[0])) return query;
        // Those of live events change nothing for anybody.
        const isCounted = !values[0].join("").includes("json_array_elements_text(");
        const then = query.then.bind(query);
        let answer: Promise<unknown> | undefined;
        const ask = async () => {
          if (!this.isAlive) return never();
          const answered = traffic.through(new Promise((...on) => void then(...on)));
          answered.catch(() => {});
          if (isCounted) await this.effect();
          const rows = await answered;
          if (isCounted) await this.effect();
          return this.isAlive ? rows : never();
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
