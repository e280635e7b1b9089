import { abortable } from "../../lib/abortable.ts";
import { listMemories, type Memory } from "../../store/memory/memories.ts";
import type { Sql } from "../../store/database/pool.ts";

/** A turn waits so long for what is remembered of a participant. */
const READ_WITHIN_MS = 1_000;

/**
 * What is remembered of each participant as it was when it was first asked for: for a function that writes instructions,
 * and for what the model is told. What is remembered later, the model has in its history; to write it into the prompt
 * would cost the prompt cache.
 */
export class KnownMemories {
  readonly #sql: Sql;
  readonly #onError: (error: unknown) => void;
  readonly #known = new Map<string, readonly Memory[]>();
  readonly #reading = new Map<string, Promise<void>>();
  /** A turn has waited for these in vain: no other one does, and they are read beside the turns until they are known. */
  readonly #missed = new Set<string>();

  /** @param onError what is remembered cannot be read: the next turn tries again */
  constructor(sql: Sql, onError: (error: unknown) => void) {
    this.#sql = sql;
    this.#onError = onError;
  }

  /** The oldest first; `undefined` for whom nothing has been read yet. */
  of(identity: string): readonly Memory[] | undefined {
    return this.#known.get(identity);
  }

  /** Reads what is not known yet; `undefined` when there is nothing to wait for. Never rejects. */
  read(identities: readonly string[]): Promise<unknown> | undefined {
    const reads = identities
      .filter((identity) => !this.#known.has(identity))
      .map((identity) => ({ identity, ended: this.#reading.get(identity) ?? this.#read(identity) }))
      .filter(({ identity }) => !this.#missed.has(identity));
    if (reads.length === 0) return undefined;
    const ended = Promise.all(reads.map((read) => read.ended));
    return abortable(ended, AbortSignal.timeout(READ_WITHIN_MS))
      .catch(this.#onError)
      .then(() => {
        for (const { identity } of reads) if (!this.#known.has(identity)) this.#missed.add(identity);
      });
  }

  #read(identity: string): Promise<void> {
    const reading = listMemories(this.#sql, { identity })
      .then((memories) => void this.#known.set(identity, memories), this.#onError)
      .finally(() => this.#reading.delete(identity));
    this.#reading.set(identity, reading);
    return reading;
  }
}
