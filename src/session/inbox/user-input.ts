import type { JsonObject } from "../../lib/json.ts";
import { evictOldest } from "../../lib/evict-oldest.ts";
import type { SpokenTimes } from "../room/voice-port.ts";

/** What a participant typed or said. */
export interface UserInput {
  readonly id: string;
  readonly content: string;
  /** The attachments as the client sent them. @defaultValue none */
  readonly attachments?: readonly JsonObject[];
  /** @defaultValue "text" */
  readonly via?: "voice" | "text";
  /** When the input was spoken, if known. */
  readonly spoken?: SpokenTimes | undefined;
  /** Whether the content may include another participant's words. Such input does not answer a question. */
  readonly isMixed?: boolean;
}

/** How many handled messages a session remembers in memory. */
export const KNOWN_MESSAGES = 200;

/**
 * The ids of the newest user messages that began a turn or answered a question, so that each is handled once. If an
 * older message is sent again, the database rejects it when its turn is stored.
 */
export class HandledMessages {
  readonly #ids: Map<string, Promise<void> | undefined>;

  constructor(ids: readonly string[]) {
    this.#ids = new Map(ids.map((id) => [id, undefined]));
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Resolves once the message is stored. Returns `undefined` if it is already stored or does not have to be. */
  storing(id: string): Promise<void> | undefined {
    return this.#ids.get(id);
  }

  add(id: string, storing?: Promise<void>): void {
    this.#ids.set(id, storing);
    evictOldest(this.#ids, KNOWN_MESSAGES);
  }
}
