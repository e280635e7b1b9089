import type { Feature } from "../../protocol/messages/messages.ts";
import { devicesFor, type TurnDevice } from "../../tool/tool-routing.ts";
import { Peer } from "./peer.ts";
import type { RoomParticipant } from "../room/room-input.ts";

/**
 * How many absent participants are kept. Each may have announced 128 kB of schemas, so without a limit, a client that
 * keeps joining under new identities would exhaust the memory.
 */
export const MAX_ABSENT = 50;

/** The participants of a session. The last ones to leave are retained, with their features, tools and language. */
export class Peers {
  readonly #peers = new Map<string, Peer>();
  /** Identities of absent participants, in the order in which they left. */
  readonly #absent = new Set<string>();
  /**
   * Chosen languages by identity. Kept separately, because stored languages are loaded before their participants join.
   */
  readonly #languages = new Map<string, string>();

  /** Marks a participant as present. Returns the participant, and whether it has just joined or rejoined. */
  join(participant: RoomParticipant): { peer: Peer; isNewJoin: boolean } {
    this.#absent.delete(participant.identity);
    const known = this.#peers.get(participant.identity);
    if (known) return { peer: known, isNewJoin: known.join(participant) };
    const peer = new Peer(participant);
    peer.chosenLanguage = this.#languages.get(peer.identity);
    this.#peers.set(peer.identity, peer);
    return { peer, isNewJoin: true };
  }

  setLanguage(identity: string, language: string): void {
    this.#languages.set(identity, language);
    const peer = this.#peers.get(identity);
    if (peer) peer.chosenLanguage = language;
  }

  leave(identity: string): void {
    const peer = this.#peers.get(identity);
    if (!peer) return;
    peer.isPresent = false;
    this.#absent.delete(identity);
    this.#absent.add(identity);
    for (const oldest of this.#absent) {
      if (this.#absent.size <= MAX_ABSENT) return;
      this.#absent.delete(oldest);
      this.#peers.delete(oldest);
    }
  }

  get(identity: string): Peer | undefined {
    return this.#peers.get(identity);
  }

  get isEmpty(): boolean {
    return this.present.length === 0;
  }

  /** Whether anybody may hear the agent. `true` for an empty room, because somebody may be about to join. */
  get hasListener(): boolean {
    return this.isEmpty || this.present.some(({ listens }) => listens);
  }

  isPresent(identity: string): boolean {
    return this.#peers.get(identity)?.isPresent ?? false;
  }

  /** Returns the identities of present participants that enabled a feature. */
  withFeature(feature: Feature): string[] {
    return this.present.filter((peer) => peer.features.has(feature)).map((peer) => peer.identity);
  }

  /** Returns the identities of absent participants that had enabled a feature. */
  absentWithFeature(feature: Feature): string[] {
    return [...this.#peers.values()]
      .filter((peer) => !peer.isPresent && peer.features.has(feature))
      .map((peer) => peer.identity);
  }

  /** The present clients, in the order in which they first joined. */
  clients(): Peer[] {
    return this.present.filter((peer) => peer.isClient && !peer.isSip);
  }

  /** Returns the devices that may run tools in this participant's turns. */
  hosts(participant: string): TurnDevice[] {
    return devicesFor(participant, this.clients());
  }

  /** The participants in the room, in the order in which they first joined. */
  get present(): Peer[] {
    return [...this.#peers.values()].filter((peer) => peer.isPresent);
  }
}
