import { setImmediate as nextTick } from "node:timers/promises";
import type { Sql } from "../../store/database/pool.ts";

/** How long a final value is cached for streams that ask for it later than others. */
const KEPT_MS = 1_000;

type Load<Args, Value> = (sql: Sql, args: Args) => Promise<Value>;

interface Sharing<Value> {
  readonly isFinal: ((value: Value) => boolean) | undefined;
  readonly forget: () => void;
}

/**
 * Shares reads of the store among all event streams of a process. Streams of one session ask for the same things at the
 * same time, so equal reads in one tick become a single read. Its result is shared, and callers must not modify it.
 */
export class SharedReads {
  readonly #sql: Sql;
  readonly #asked = new Map<unknown, Map<string, Promise<unknown>>>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /**
   * Returns the result of `load` for these arguments, which must be JSON values. Without `isFinal`, the store is read
   * after this call. With `isFinal`, it may have been read before, because a final value, which can no longer change,
   * is cached for a while. A value that is not final may be out of date, so the caller must read again.
   */
  async read<Args, Value>(load: Load<Args, Value>, args: Args, isFinal?: (value: Value) => boolean): Promise<Value> {
    const asked = this.#asked.get(load) ?? new Map<string, Promise<unknown>>();
    this.#asked.set(load, asked);
    const key = JSON.stringify(args);
    const known = asked.get(key) as Promise<Value> | undefined;
    if (known) return known;
    const made = this.#load(load, args, { isFinal, forget: () => void asked.delete(key) });
    asked.set(key, made);
    return made;
  }

  async #load<Args, Value>(load: Load<Args, Value>, args: Args, { isFinal, forget }: Sharing<Value>): Promise<Value> {
    await nextTick();
    if (!isFinal) forget();
    let isKept = false;
    try {
      const value = await load(this.#sql, args);
      isKept = isFinal?.(value) === true;
      if (isKept) setTimeout(forget, KEPT_MS).unref();
      return value;
    } finally {
      if (isFinal && !isKept) forget();
    }
  }
}
