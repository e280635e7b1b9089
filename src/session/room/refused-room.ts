import type { AppError } from "../../errors/app-error.ts";
import { createId } from "../../lib/id.ts";
import { encodeEnvelope } from "../../protocol/codec/codec.ts";
import { toWireError } from "../../protocol/wire-error.ts";
import type { RoomLink } from "./room-link.ts";
import type { RoomInput, RoomParticipant } from "./room-input.ts";

/**
 * Handles a room that gets no session: notifies each participant once of the reason. The job keeps running, because
 * otherwise LiveKit would keep sending other agents into the room.
 */
export class RefusedRoom {
  readonly #link: Pick<RoomLink, "publish">;
  readonly #conversationId: string;
  readonly #why: AppError;
  readonly #told = new Set<string>();

  constructor(link: Pick<RoomLink, "publish">, conversationId: string, why: AppError) {
    this.#link = link;
    this.#conversationId = conversationId;
    this.#why = why;
  }

  handle(input: RoomInput): void {
    if (input.type === "left") this.#told.delete(input.identity);
    if (input.type === "joined") this.#tell(input.participant);
    if (input.type === "packet" || input.type === "chat" || input.type === "utterance") this.#tell(input.from);
  }

  #tell({ identity }: RoomParticipant): void {
    if (this.#told.has(identity)) return;
    this.#told.add(identity);
    const message = { type: "error_message", body: toWireError(this.#why, { id: createId() }) } as const;
    // Without a session there are no stanza numbers.
    const bytes = encodeEnvelope({ stanzaId: 0, conversationId: this.#conversationId, message });
    this.#link.publish(bytes, [identity]).catch(() => this.#told.delete(identity));
  }
}
