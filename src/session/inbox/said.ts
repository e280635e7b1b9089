import type { JsonObject } from "../../lib/json.ts";
import { keepNewest } from "../../lib/keep-newest.ts";
import type { SpokenTimes } from "../room/voice-port.ts";

/** What a participant wrote or said. */
export interface Said {
  readonly id: string;
  readonly content: string;
  /** As the client sent them. @defaultValue none */
  readonly attachments?: readonly JsonObject[];
  /** @defaultValue "text" */
  readonly via?: "voice" | "text";
  /** When it was spoken, if that is known. */
  readonly spoken?: SpokenTimes | undefined;
  /** Words of another participant may be among them: they answer no question. */
  readonly isMixed?: boolean;
}

/** How many taken messages a session remembers by itself. */
export const KNOWN_MESSAGES = 200;

/**
 * The ids of the newest user messages that began a turn or answered a question, so that each is taken once. An older
 * message that comes again is refused by the database when its turn is stored.
 */
export class TakenMessages {
  readonly #ids: Map<string, Promise<void> | undefined>;

  constructor(ids: readonly string[]) {
    this.#ids = new Map(ids.map((id) => [id, undefined]));
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Resolves when the message is stored; `undefined` when it is stored already, or need not be. */
  storing(id: string): Promise<void> | undefined {
    return this.#ids.get(id);
  }

  add(id: string, storing?: Promise<void>): void {
    this.#ids.set(id, storing);
    keepNewest(this.#ids, KNOWN_MESSAGES);
  }
}
