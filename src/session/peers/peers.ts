import { type Feature } from "../../protocol/messages/messages.ts";
import { hostsFor, type ToolHost } from "../../tool/tool-routing.ts";
import { Peer } from "./peer.ts";
import { type RoomParticipant } from "../room/room-input.ts";

/** The participants of a session, those that left included: what they said of themselves is still known. */
export class Peers {
  readonly #peers = new Map<string, Peer>();

  /** The peer of this participant, present from now on. `isNewJoin`: it came, or came back. */
  join(participant: RoomParticipant): { peer: Peer; isNewJoin: boolean } {
    const known = this.#peers.get(participant.identity);
    if (known) return { peer: known, isNewJoin: known.join(participant) };
    const peer = new Peer(participant);
    this.#peers.set(peer.identity, peer);
    return { peer, isNewJoin: true };
  }

  leave(identity: string): void {
    const peer = this.#peers.get(identity);
    if (peer) peer.isPresent = false;
  }

  get(identity: string): Peer | undefined {
    return this.#peers.get(identity);
  }

  get isEmpty(): boolean {
    return this.#present().length === 0;
  }

  isPresent(identity: string): boolean {
    return this.#peers.get(identity)?.isPresent ?? false;
  }

  /** Identities of those present that asked for a feature. */
  withFeature(feature: Feature): string[] {
    return this.#present()
      .filter((peer) => peer.features.has(feature))
      .map((peer) => peer.identity);
  }

  /** Identities of those that asked for a feature and are away. */
  absentWithFeature(feature: Feature): string[] {
    return [...this.#peers.values()]
      .filter((peer) => !peer.isPresent && peer.features.has(feature))
      .map((peer) => peer.identity);
  }

  /** Clients that are present, by when they came. */
  clients(): Peer[] {
    return this.#present().filter((peer) => peer.isClient && !peer.isSip);
  }

  /** Those that may run tools in this participant's turns. */
  hosts(participant: string): ToolHost[] {
    return hostsFor(participant, this.clients());
  }

  #present(): Peer[] {
    return [...this.#peers.values()].filter((peer) => peer.isPresent);
  }
}
