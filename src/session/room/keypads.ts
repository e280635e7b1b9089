import type { RoomParticipant } from "./room-input.ts";

/** With `voice.turns: "manual"`, this key starts and ends a caller's turn, and is part of no entry. */
export const TURN_KEY = "*";
/** How long after the last key an entry ends by itself. */
const PAUSE_MS = 2_000;
const MAX_KEYS = 64;

interface Entry {
  readonly keys: string;
  readonly timer: NodeJS.Timeout;
}

/** Collects the keys that a caller presses into entries. `#`, a pause or `MAX_KEYS` keys end an entry. */
export class Keypads {
  readonly #onEntered: (from: RoomParticipant, keys: string) => void;
  readonly #ignored: string | undefined;
  /** Unfinished entries, by identity. */
  readonly #entries = new Map<string, Entry>();

  /** @param ignored a key that is part of no entry */
  constructor(onEntered: (from: RoomParticipant, keys: string) => void, ignored?: string) {
    this.#onEntered = onEntered;
    this.#ignored = ignored;
  }

  /** Adds a key to the caller's entry. Ignores anything that is not a telephone key. */
  press(from: RoomParticipant, key: string): void {
    if (!/^[0-9*#A-D]$/u.test(key) || key === this.#ignored) return;
    const before = this.#entries.get(from.identity);
    clearTimeout(before?.timer);
    const keys = (before?.keys ?? "") + key;
    const enter = () => {
      this.#entries.delete(from.identity);
      this.#onEntered(from, keys);
    };
    if (key === "#" || keys.length >= MAX_KEYS) return enter();
    this.#entries.set(from.identity, { keys, timer: setTimeout(enter, PAUSE_MS) });
  }

  close(): void {
    for (const { timer } of this.#entries.values()) clearTimeout(timer);
    this.#entries.clear();
  }
}
