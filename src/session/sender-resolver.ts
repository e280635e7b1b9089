import { LIMITS } from "../protocol/limits.ts";
import { type RoomParticipant } from "./room-link.ts";

/** One entry of the server's own participant list. */
export interface ListedParticipant extends RoomParticipant {
  readonly isHidden: boolean;
  readonly isAgent: boolean;
}

/** What the LiveKit server itself knows of the room. */
export interface RoomApi {
  readonly list: () => Promise<readonly ListedParticipant[]>;
  /** Makes the server announce a participant to us now, and not with its next batch of updates. */
  readonly announce: (identity: string) => Promise<void>;
}

interface Room extends RoomApi {
  /** Ourselves, or a participant that LiveKit has announced to us. */
  readonly isLocal: (identity: string) => boolean;
}

interface Output {
  readonly onPacket: (from: RoomParticipant, bytes: Uint8Array) => void;
  readonly onUnresolved: () => void;
}

/** LiveKit announces a participant without tracks up to 3 s late (FAULTS 0.2); a packet is not held longer than this. */
const HOLD_MS = LIMITS.unidentifiedSenderMs;
const RETRY_MS = 250;
const MAX_HELD = 256;

interface HeldPacket {
  readonly bytes: Uint8Array;
  readonly at: number;
  /** Known when the packet only waits for its turn. */
  readonly from: RoomParticipant | undefined;
}

/**
 * Finds who sent the packets that came without a sender: exactly one participant that the server lists and that had
 * not been announced to us when the packet came. While that is not clear they are held, in order; hidden participants
 * and the server's API never become a sender. Packets that a participant sends after it was announced wait behind its
 * held ones; nobody else waits.
 */
export class SenderResolver {
  readonly #room: Room;
  readonly #output: Output;
  readonly #announcedAt = new Map<string, { readonly participant: RoomParticipant; readonly at: number }>();
  #held: HeldPacket[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isResolving = false;
  #isAskedAgain = false;
  #isClosed = false;

  constructor(room: Room, output: Output) {
    this.#room = room;
    this.#output = output;
  }

  /** A packet that LiveKit could not attribute. */
  hold(bytes: Uint8Array): void {
    this.#push({ bytes, at: Date.now(), from: undefined });
  }

  /** A packet that LiveKit identified. */
  pass(from: RoomParticipant, bytes: Uint8Array): void {
    const announced = this.#announcedAt.get(from.identity);
    const first = this.#held[0];
    if (first && announced && announced.at >= first.at) this.#push({ bytes, at: Date.now(), from });
    else this.#output.onPacket(from, bytes);
  }

  /** A participant was announced: what is held may be clear now. */
  handleJoined(participant: RoomParticipant): void {
    const now = Date.now();
    for (const [identity, { at }] of this.#announcedAt) if (at < now - HOLD_MS) this.#announcedAt.delete(identity);
    this.#announcedAt.set(participant.identity, { participant, at: now });
    if (this.#held.length > 0) void this.#resolve();
  }

  /** Later packets of this participant come with its identity; the sooner, the fewer have to be held. */
  announce(identity: string): void {
    this.#room.announce(identity).catch(() => {});
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#held = [];
  }

  #push(packet: HeldPacket): void {
    if (this.#isClosed) return;
    if (this.#held.length >= MAX_HELD) return this.#output.onUnresolved();
    this.#held.push(packet);
    void this.#resolve();
  }

  async #resolve(): Promise<void> {
    this.#isAskedAgain = true;
    if (this.#isResolving) return;
    this.#isResolving = true;
    clearTimeout(this.#timer);
    while (this.#isAskedAgain) {
      this.#isAskedAgain = false;
      const listed = await this.#room.list().catch(() => []);
      if (this.#isClosed) return;
      const unannounced = listed.filter(({ identity }) => !this.#room.isLocal(identity));
      for (const { identity, isHidden } of unannounced) if (!isHidden) this.announce(identity);
      this.#release(unannounced);
    }
    this.#isResolving = false;
    if (this.#held.length > 0) this.#timer = setTimeout(() => void this.#resolve(), RETRY_MS);
  }

  /** Lets go of what is clear, from the front, and of what has waited too long. */
  #release(unannounced: readonly ListedParticipant[]): void {
    for (let packet = this.#held[0]; packet; packet = this.#held[0]) {
      const from = packet.from ?? this.#senderOf(packet, unannounced);
      if (from) this.#output.onPacket(from, packet.bytes);
      else if (packet.at + HOLD_MS <= Date.now()) this.#output.onUnresolved();
      else return;
      this.#held.shift();
    }
  }

  #senderOf({ at }: HeldPacket, unannounced: readonly ListedParticipant[]): RoomParticipant | undefined {
    const since = [...this.#announcedAt.values()].filter((announced) => announced.at >= at);
    if (unannounced.length + since.length !== 1) return undefined;
    const [listed] = unannounced;
    if (listed) return listed.isHidden || listed.isAgent ? undefined : listed;
    return since[0]?.participant;
  }
}
