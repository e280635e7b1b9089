import { abortable } from "../../lib/abortable.ts";
import { listMemories } from "../../store/memory/memories.ts";
import type { Sql } from "../../store/database/pool.ts";

/** Instructions are written without what cannot be read in this time. */
const READ_WITHIN_MS = 1_000;

/**
 * What is remembered of participants, for a function that writes instructions: as it was when each was first asked for.
 * What is remembered later, the model has in its history; to write it into the prompt would cost the prompt cache.
 */
export class KnownMemories {
  readonly #sql: Sql;
  readonly #onError: (error: unknown) => void;
  readonly #known = new Map<string, readonly string[]>();
  readonly #reading = new Map<string, Promise<void>>();

  /** @param onError what is remembered cannot be read: the next turn tries again */
  constructor(sql: Sql, onError: (error: unknown) => void) {
    this.#sql = sql;
    this.#onError = onError;
  }

  /** The oldest first. */
  of(identity: string): readonly string[] {
    return this.#known.get(identity) ?? [];
  }

  /** Reads what is not known yet; `undefined` when there is nothing to read. Never rejects. */
  read(identities: readonly string[]): Promise<unknown> | undefined {
    const unknown = identities.filter((identity) => !this.#known.has(identity));
    if (unknown.length === 0) return undefined;
    const reads = unknown.map((identity) => this.#reading.get(identity) ?? this.#read(identity));
    return abortable(Promise.all(reads), AbortSignal.timeout(READ_WITHIN_MS)).catch(this.#onError);
  }

  #read(identity: string): Promise<void> {
    const reading = listMemories(this.#sql, { identity })
      .then(
        (memories) =>
          void this.#known.set(
            identity,
            memories.map(({ text }) => text),
          ),
        this.#onError,
      )
      .finally(() => this.#reading.delete(identity));
    this.#reading.set(identity, reading);
    return reading;
  }
}
