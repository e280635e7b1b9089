import { abortable } from "../../lib/abortable.ts";
import type { Memory } from "../../store/memory/memories.ts";
import type { MemoryStore } from "./memory-store.ts";

/** How long a turn waits for a participant's memories. */
const READ_WITHIN_MS = 1_000;

/**
 * Each participant's memories at the time of joining, for instructions functions and the model. Memories stored later
 * are not added, because the model sees them in its history, and a changed prompt would miss the prompt cache.
 */
export class MemorySnapshots {
  readonly #store: Pick<MemoryStore, "list">;
  readonly #onError: (error: unknown) => void;
  readonly #known = new Map<string, readonly Memory[]>();
  readonly #reading = new Map<string, Promise<void>>();
  /** Participants whose memories were not read in time for a turn. Later turns do not wait, but reading continues. */
  readonly #missed = new Set<string>();

  /** @param onError called when memories cannot be read; the next turn tries again */
  constructor(store: Pick<MemoryStore, "list">, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onError = onError;
  }

  /** Returns a participant's memories, oldest first, or `undefined` if they are not loaded yet. */
  of(identity: string): readonly Memory[] | undefined {
    return this.#known.get(identity);
  }

  /** Starts reading a participant's memories on joining, so that the first turn does not have to wait. */
  handleJoined(identity: string): void {
    if (!this.#known.has(identity) && !this.#reading.has(identity)) void this.#read(identity);
  }

  /** Reads memories that are not loaded yet. Returns `undefined` if there is nothing to wait for. Never rejects. */
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
    const reading = this.#store
      .list(identity)
      .then((memories) => void this.#known.set(identity, memories), this.#onError)
      .finally(() => this.#reading.delete(identity));
    this.#reading.set(identity, reading);
    return reading;
  }
}
