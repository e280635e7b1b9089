import { LIMITS } from "../../protocol/limits.ts";
import { type OnRoomInput, type RoomParticipant } from "./room-input.ts";

/** One entry of the server's own participant list. */
export interface ListedParticipant extends RoomParticipant {
  readonly isHidden: boolean;
  readonly isAgent: boolean;
  /** `false` for one whose grants let it send no data, such as a recorder: it is nobody's sender. */
  readonly canSend?: boolean;
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

/** LiveKit announces a participant without tracks up to 3 s late; a packet is not held longer than this. */
const HOLD_MS = LIMITS.unidentifiedSenderMs;
const RETRY_MS = 250;
const MAX_HELD = 256;
/** Packets of one hold that may be asked for again: what floods us is nobody's first message. */
const MAX_ASKED = 32;
/** Packets may come faster than the server should be asked. */
const LIST_PAUSE_MS = 20;

/** A stream waits this long for its sender's announcement, so that what the sender says after our answer is known to be its. */
const ANNOUNCED_SOON_MS = 500;
/** Until when a sender that was found in the server's list must have been announced. */
const ANNOUNCED_BY_MS = 2 * HOLD_MS;

interface Held {
  readonly deliver: (from: RoomParticipant) => void;
  readonly at: number;
  /** Of a packet that came without a sender. */
  readonly bytes?: Uint8Array;
  /** Known when the packet only waits for its turn. */
  readonly from?: RoomParticipant;
  /** The identity that a stream came with; it is believed when the server lists it as one that is not hidden. */
  readonly claims?: string;
}

type Sender = RoomParticipant | "refused" | undefined;

/**
 * Finds who sent the packets that came without a sender: exactly one participant that the server lists and that had
 * not been announced to us when the packet came. While that is not clear they are held, in order; where it never can be,
 * because several came at once, all of them are told. Hidden participants and the server's API never become a sender. Packets that a participant sends after it was announced wait behind its
 * held ones; nobody else waits. Streams name their sender, so they wait for nobody, but a hidden one names itself too.
 */
export class SenderResolver {
  readonly #room: Room;
  readonly #take: OnRoomInput;
  readonly #announcedAt = new Map<string, { readonly participant: RoomParticipant; readonly at: number }>();
  readonly #vanishing = new Map<string, NodeJS.Timeout>();
  #held: Held[] = [];
  #timer: NodeJS.Timeout | undefined;
  #asking = { since: 0, count: 0 };
  #isResolving = false;
  #isAskedAgain = false;
  #isClosed = false;

  /** @param take gets packets, who left without having been announced, and what is dropped or cannot be told */
  constructor(room: Room, take: OnRoomInput) {
    this.#room = room;
    this.#take = take;
  }

  /** A packet that LiveKit could not attribute. */
  hold(bytes: Uint8Array): void {
    this.#push({ deliver: (from) => this.#take({ type: "packet", from, bytes }), at: performance.now(), bytes });
  }

  /** A stream of a participant that has not been announced. */
  holdStream(identity: string, deliver: (from: RoomParticipant) => void): void {
    this.#push({ deliver, at: performance.now(), claims: identity });
  }

  /** A packet that LiveKit identified. */
  pass(from: RoomParticipant, bytes: Uint8Array): void {
    const announced = this.#announcedAt.get(from.identity);
    const first = this.#held[0];
    const deliver = (sender: RoomParticipant) => this.#take({ type: "packet", from: sender, bytes });
    if (first && announced && announced.at >= first.at) this.#push({ deliver, at: performance.now(), from });
    else deliver(from);
  }

  /** A participant was announced: what is held may be clear now. */
  handleJoined(participant: RoomParticipant): void {
    const now = performance.now();
    clearTimeout(this.#vanishing.get(participant.identity));
    this.#vanishing.delete(participant.identity);
    for (const [identity, { at }] of this.#announcedAt) if (at < now - HOLD_MS) this.#announcedAt.delete(identity);
    this.#announcedAt.set(participant.identity, { participant, at: now });
    if (this.#held.length > 0) void this.#resolve();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const timer of this.#vanishing.values()) clearTimeout(timer);
    this.#held = [];
  }

  #push(packet: Held): void {
    if (this.#isClosed) return;
    if (this.#held.length >= MAX_HELD) return this.#drop();
    this.#held.push(packet);
    void this.#resolve();
  }

  #drop(): void {
    this.#take({ type: "dropped", reason: "unknown_sender" });
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
      const unannounced = listed.filter(({ identity, canSend = true }) => canSend && !this.#room.isLocal(identity));
      // Once announced, its later packets come with its identity.
      for (const { identity, isHidden } of unannounced) {
        if (!isHidden) this.#room.announce(identity).catch(() => {});
      }
      this.#release(unannounced);
      if (this.#isAskedAgain) await new Promise((resolve) => setTimeout(resolve, LIST_PAUSE_MS));
    }
    this.#isResolving = false;
    if (this.#held.length > 0) this.#timer = setTimeout(() => void this.#resolve(), RETRY_MS);
  }

  /** Lets go of what is clear, in order, and of what has waited too long. */
  #release(unannounced: readonly ListedParticipant[]): void {
    const kept: Held[] = [];
    let isBlocked = false;
    for (const held of this.#held.splice(0)) {
      const sender = this.#senderOf(held, unannounced, isBlocked);
      if (sender !== undefined && sender !== "refused") {
        if (unannounced.some(({ identity }) => identity === sender.identity)) this.#expectAnnounced(sender.identity);
        held.deliver(sender);
      } else if (held.bytes && !isBlocked && this.#isHopeless(held, unannounced)) {
        this.#askAgain(held.bytes, this.#announcedSince(held.at));
      } else if (sender === "refused" || held.at + HOLD_MS <= performance.now()) this.#drop();
      else {
        kept.push(held);
        isBlocked ||= held.claims === undefined;
      }
    }
    this.#held.unshift(...kept);
  }

  #senderOf(held: Held, unannounced: readonly ListedParticipant[], isBlocked: boolean): Sender {
    if (held.claims !== undefined) return this.#verify(held.claims, held.at, unannounced);
    if (isBlocked) return undefined;
    return held.from ?? this.#onlyCandidate(held, unannounced);
  }

  #verify(identity: string, at: number, unannounced: readonly ListedParticipant[]): Sender {
    const announced = this.#announcedAt.get(identity);
    if (announced) return announced.participant;
    if (this.#room.isLocal(identity)) return "refused";
    const listed = unannounced.find((participant) => participant.identity === identity);
    if (listed?.isHidden || listed?.isAgent) return "refused";
    return at + ANNOUNCED_SOON_MS <= performance.now() ? listed : undefined;
  }

  #askAgain(bytes: Uint8Array, candidates: readonly RoomParticipant[]): void {
    const now = performance.now();
    if (now - this.#asking.since > HOLD_MS) this.#asking = { since: now, count: 0 };
    this.#asking.count += 1;
    if (this.#asking.count > MAX_ASKED) return this.#drop();
    const identities = candidates.map(({ identity }) => identity);
    this.#take({ type: "unclear", candidates: identities, bytes });
  }

  /** Several may have sent it, and all of them that ever will be are announced: what they say now has a sender. */
  #isHopeless({ at }: Held, unannounced: readonly ListedParticipant[]): boolean {
    const since = this.#announcedSince(at);
    const isSettled = unannounced.every(({ isHidden, isAgent }) => isHidden || isAgent);
    return isSettled && since.length > 0 && since.length + unannounced.length > 1;
  }

  #announcedSince(at: number): RoomParticipant[] {
    return [...this.#announcedAt.values()].flatMap((announced) => (announced.at >= at ? announced.participant : []));
  }

  #onlyCandidate({ at }: Held, unannounced: readonly ListedParticipant[]): RoomParticipant | undefined {
    const since = this.#announcedSince(at);
    if (unannounced.length + since.length !== 1) return undefined;
    const [listed] = unannounced;
    if (listed) return listed.isHidden || listed.isAgent ? undefined : listed;
    return since[0];
  }

  #expectAnnounced(identity: string): void {
    if (this.#vanishing.has(identity)) return;
    const check = () => {
      this.#vanishing.delete(identity);
      if (!this.#room.isLocal(identity)) this.#take({ type: "left", identity });
    };
    this.#vanishing.set(identity, setTimeout(check, ANNOUNCED_BY_MS));
  }
}
