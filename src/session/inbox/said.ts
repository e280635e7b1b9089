import type { JsonObject } from "../../lib/json.ts";
import { keepNewest } from "../../lib/keep-newest.ts";

/** What a participant wrote or said. */
export interface Said {
  readonly id: string;
  readonly content: string;
  /** As they came. @defaultValue none */
  readonly attachments?: readonly JsonObject[];
  /** @defaultValue "text" */
  readonly via?: "voice" | "text";
}

/** Of so many messages a session knows without asking that they have been taken. */
export const KNOWN_MESSAGES = 200;

/**
 * The ids of the newest user messages that began a turn or answered a question: each message is taken once. An older one
 * that comes again is refused by the database when its turn is stored.
 */
export class TakenMessages {
  readonly #ids: Map<string, Promise<void> | undefined>;

  constructor(ids: readonly string[]) {
    this.#ids = new Map(ids.map((id) => [id, undefined]));
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Resolves when the message is stored; `undefined`: it is, or need not be. */
  storing(id: string): Promise<void> | undefined {
    return this.#ids.get(id);
  }

  add(id: string, storing?: Promise<void>): void {
    this.#ids.set(id, storing);
    keepNewest(this.#ids, KNOWN_MESSAGES);
  }
}
