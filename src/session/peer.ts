import { LIMITS } from "../protocol/limits.ts";
import { type AnnouncedTool } from "../tool/directory.ts";
import { type RoomParticipant } from "./room-link.ts";

const REMEMBERED_STANZAS = 2_000;

/** Optional parts of the protocol that a client asks for in its Configuration. */
export type Feature =
  | "tool_call_state"
  | "permissions"
  | "tool_use_cancel"
  | "tool_use_progress"
  | "blocks"
  | "reasoning_steps";

/** One participant of the session, across its reconnects. */
export class Peer {
  readonly identity: string;
  /** LiveKit's id of this join; `""` while only a stream of it has come. */
  sid: string;
  isPresent = true;
  /** A caller by telephone: it can be spoken to, and sent nothing. */
  readonly isSip: boolean;
  /** It has spoken the protocol: it can be asked to run tools. */
  isClient = false;
  features: ReadonlySet<string> = new Set();
  /** `undefined` while unknown. */
  tools: ReadonlyMap<string, AnnouncedTool> | undefined;
  language: string | undefined;
  #seenStanzas = new Set<number>();
  #window = { startedAt: 0, count: 0 };

  constructor({ identity, sid, isSip }: RoomParticipant) {
    this.identity = identity;
    this.sid = sid;
    this.isSip = isSip;
  }

  /** `true` when this is another join than before: its stanza numbers begin again. */
  join({ sid }: RoomParticipant): boolean {
    const isNewJoin = !this.isPresent || (this.sid !== "" && sid !== "" && sid !== this.sid);
    if (isNewJoin) this.#seenStanzas = new Set();
    if (sid !== "" || isNewJoin) this.sid = sid;
    this.isPresent = true;
    return isNewJoin;
  }

  /** Its numbers may begin again. What must not be handled twice is known by its own id, too. */
  forgetStanzas(): void {
    this.#seenStanzas = new Set();
  }

  /** `false` for a stanza of this join that came before. */
  takeStanza(stanzaId: number): boolean {
    if (this.#seenStanzas.has(stanzaId)) return false;
    this.#seenStanzas.add(stanzaId);
    if (this.#seenStanzas.size > REMEMBERED_STANZAS) {
      const oldest = this.#seenStanzas.values().next();
      if (!oldest.done) this.#seenStanzas.delete(oldest.value);
    }
    return true;
  }

  /** Counts a message: "exceeded" once a window when there are too many, then "dropped" until the window passes. */
  countMessage(now: number): "ok" | "exceeded" | "dropped" {
    if (now - this.#window.startedAt >= LIMITS.messageWindowMs) this.#window = { startedAt: now, count: 0 };
    this.#window.count += 1;
    if (this.#window.count <= LIMITS.messagesPerWindow) return "ok";
    return this.#window.count === LIMITS.messagesPerWindow + 1 ? "exceeded" : "dropped";
  }
}
