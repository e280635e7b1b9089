import type { Feature } from "../../protocol/messages/messages.ts";
import { hostsFor, type TurnHost } from "../../tool/tool-routing.ts";
import { Peer } from "./peer.ts";
import type { RoomParticipant } from "../room/room-input.ts";

/** The participants of a session. Those that left are kept, with their features, tools and language. */
export class Peers {
  readonly #peers = new Map<string, Peer>();
  /** Chosen languages by identity. They are apart from the peers, because stored ones are known before these join. */
  readonly #languages = new Map<string, string>();

  /** The peer of a participant that is present from now on. `isNewJoin`: it has joined, or joined again. */
  join(participant: RoomParticipant): { peer: Peer; isNewJoin: boolean } {
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
    if (peer) peer.isPresent = false;
  }

  get(identity: string): Peer | undefined {
    return this.#peers.get(identity);
  }

  get isEmpty(): boolean {
    return this.present.length === 0;
  }

  /** Whether somebody may hear the agent. In an empty room, somebody who is about to come. */
  get hasListener(): boolean {
    return this.isEmpty || this.present.some(({ listens }) => listens);
  }

  isPresent(identity: string): boolean {
    return this.#peers.get(identity)?.isPresent ?? false;
  }

  /** The identities of participants that are present and asked for a feature. */
  withFeature(feature: Feature): string[] {
    return this.present.filter((peer) => peer.features.has(feature)).map((peer) => peer.identity);
  }

  /** The identities of participants that asked for a feature and are away. */
  absentWithFeature(feature: Feature): string[] {
    return [...this.#peers.values()]
      .filter((peer) => !peer.isPresent && peer.features.has(feature))
      .map((peer) => peer.identity);
  }

  /** The clients that are present, in the order in which they came. */
  clients(): Peer[] {
    return this.present.filter((peer) => peer.isClient && !peer.isSip);
  }

  /** The peers that may run tools in this participant's turns. */
  hosts(participant: string): TurnHost[] {
    return hostsFor(participant, this.clients());
  }

  /** Those that are in the room, in the order in which they first came. */
  get present(): Peer[] {
    return [...this.#peers.values()].filter((peer) => peer.isPresent);
  }
}
