import { LIMITS } from "../../protocol/limits.ts";
import type { OnRoomInput, RoomParticipant } from "./room-input.ts";

/** One entry of the LiveKit server's participant list. */
export interface ListedParticipant extends RoomParticipant {
  readonly isHidden: boolean;
  readonly isAgent: boolean;
  /** `false` for a participant that may not send data, such as a recorder. It cannot be a sender. */
  readonly canSend?: boolean;
}

/** The LiveKit server's API for this room. */
export interface RoomApi {
  readonly list: () => Promise<readonly ListedParticipant[]>;
  /** Makes the server announce a participant to the agent now rather than with its next batch of updates. */
  readonly announce: (identity: string) => Promise<void>;
}

interface Room extends RoomApi {
  /** Whether this is the agent itself, or a participant that LiveKit has announced to it. */
  readonly isLocal: (identity: string) => boolean;
}

/** The longest time that a packet is held. LiveKit announces a participant without tracks up to 3 s late. */
const HOLD_MS = LIMITS.unidentifiedSenderMs;
const RETRY_MS = 250;
const MAX_HELD = 256;
/** How many packets may trigger a resend request within `HOLD_MS`. Enough for first messages, not for a flood. */
const MAX_RESEND_REQUESTS = 32;
/** The minimum time between two list requests. Packets may arrive faster than that. */
const LIST_PAUSE_MS = 20;

/**
 * How long a stream waits for its sender's announcement, after which the sender's packets carry its identity. If the
 * announcement does not come in time, the sender's entry in the server's list is enough.
 */
const ANNOUNCED_SOON_MS = 500;
/** How long a sender that was found in the server's list may stay unannounced before it counts as having left. */
const ANNOUNCED_BY_MS = 2 * HOLD_MS;

interface Held {
  readonly deliver: (from: RoomParticipant) => void;
  readonly at: number;
  /** The packet, if it arrived without a sender. */
  readonly bytes?: Uint8Array;
  /** The sender, if known. In that case, the packet only waits for earlier packets. */
  readonly from?: RoomParticipant;
  /**
   * The identity that a stream carries. It is accepted if the participant is announced, or listed and neither hidden
   * nor an agent.
   */
  readonly claimedIdentity?: string;
}

type Sender = RoomParticipant | "refused" | undefined;

/**
 * Finds the sender of packets that LiveKit delivered without one. The candidates are the listed participants that had
 * not been announced when the packet arrived. Packets are held, in order, until exactly one candidate remains: the
 * sender. If several participants joined at once, the sender will never be clear, so all of them are asked to resend.
 * Hidden participants never become a sender.
 *
 * Packets from a participant that was announced in the meantime wait behind the held ones. Other participants' packets
 * are not delayed. Streams carry their sender's identity, and are held only until that participant is known not to be
 * hidden.
 */
export class SenderResolver {
  readonly #room: Room;
  readonly #take: OnRoomInput;
  readonly #announcedAt = new Map<string, { readonly participant: RoomParticipant; readonly at: number }>();
  readonly #vanishing = new Map<string, NodeJS.Timeout>();
  #held: Held[] = [];
  #timer: NodeJS.Timeout | undefined;
  #resendRequests = { since: 0, count: 0 };
  #isResolving = false;
  #isAskedAgain = false;
  #isClosed = false;

  /** @param take receives packets (even unclear and dropped ones), and senders that left without being announced */
  constructor(room: Room, take: OnRoomInput) {
    this.#room = room;
    this.#take = take;
  }

  /** Accepts a packet for which LiveKit reports no sender. */
  hold(bytes: Uint8Array): void {
    this.#push({ deliver: (from) => this.#take({ type: "packet", from, bytes }), at: performance.now(), bytes });
  }

  /** Accepts a stream from a participant that was not announced yet. */
  holdStream(identity: string, deliver: (from: RoomParticipant) => void): void {
    this.#push({ deliver, at: performance.now(), claimedIdentity: identity });
  }

  /** Accepts a packet for which LiveKit reports the sender. */
  pass(from: RoomParticipant, bytes: Uint8Array): void {
    const announced = this.#announcedAt.get(from.identity);
    const first = this.#held[0];
    const deliver = (sender: RoomParticipant) => this.#take({ type: "packet", from: sender, bytes });
    if (first && announced && announced.at >= first.at) this.#push({ deliver, at: performance.now(), from });
    else deliver(from);
  }

  /** Call this when a participant has been announced. The sender of held packets may now be clear. */
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
      // Once a participant is announced, its packets carry its identity.
      for (const { identity, isHidden } of unannounced) {
        if (!isHidden) this.#room.announce(identity).catch(() => {});
      }
      this.#release(unannounced);
      if (this.#isAskedAgain) await new Promise((resolve) => setTimeout(resolve, LIST_PAUSE_MS));
    }
    this.#isResolving = false;
    if (this.#held.length > 0) this.#timer = setTimeout(() => void this.#resolve(), RETRY_MS);
  }

  /** Delivers packets whose sender is clear, in order, and drops those that were held too long. */
  #release(unannounced: readonly ListedParticipant[]): void {
    const kept: Held[] = [];
    let isBlocked = false;
    for (const held of this.#held.splice(0)) {
      const sender = this.#senderOf(held, unannounced, isBlocked);
      if (sender !== undefined && sender !== "refused") {
        if (unannounced.some(({ identity }) => identity === sender.identity)) this.#expectAnnounced(sender.identity);
        held.deliver(sender);
      } else if (held.bytes && !isBlocked && this.#isUndecidable(held, unannounced)) {
        this.#requestResend(held.bytes, this.#announcedSince(held.at));
      } else if (sender === "refused" || held.at + HOLD_MS <= performance.now()) this.#drop();
      else {
        kept.push(held);
        isBlocked ||= held.claimedIdentity === undefined;
      }
    }
    this.#held.unshift(...kept);
  }

  #senderOf(held: Held, unannounced: readonly ListedParticipant[], isBlocked: boolean): Sender {
    if (held.claimedIdentity !== undefined) return this.#verify(held.claimedIdentity, held.at, unannounced);
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

  #requestResend(bytes: Uint8Array, candidates: readonly RoomParticipant[]): void {
    const now = performance.now();
    if (now - this.#resendRequests.since > HOLD_MS) this.#resendRequests = { since: now, count: 0 };
    this.#resendRequests.count += 1;
    if (this.#resendRequests.count > MAX_RESEND_REQUESTS) return this.#drop();
    const identities = candidates.map(({ identity }) => identity);
    this.#take({ type: "unclear", candidates: identities, bytes });
  }

  /**
   * Whether several participants may have sent a packet and none is left to be announced, so its sender will never be
   * clear.
   */
  #isUndecidable({ at }: Held, unannounced: readonly ListedParticipant[]): boolean {
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
