/** How long an entry that has failed is used only if the others fail as well. */
const REST_MS = 30_000;

/** The entries of an agent's list, such as its models or voices, in the order in which they are tried. */
export class FallbackOrder<Entry> {
  readonly #entries: readonly Entry[];
  readonly #failedAt = new Map<Entry, number>();

  constructor(entries: readonly Entry[]) {
    this.#entries = entries;
  }

  /** The entries in the order of the list, with those that have recently failed at the end. */
  get current(): readonly Entry[] {
    const ready = this.#ready;
    return [...ready, ...this.#entries.filter((entry) => !ready.includes(entry))];
  }

  /** Whether an entry has not failed recently. */
  get hasReady(): boolean {
    return this.#ready.length > 0;
  }

  markFailed(entry: Entry): void {
    this.#failedAt.set(entry, performance.now());
  }

  get #ready(): readonly Entry[] {
    const now = performance.now();
    return this.#entries.filter((entry) => now - (this.#failedAt.get(entry) ?? -Infinity) >= REST_MS);
  }
}
