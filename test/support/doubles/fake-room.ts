import { createId } from "../../../src/lib/id.ts";
import type { Message, MessageBody } from "../../../src/protocol/messages/messages.ts";
import { decode, encode, fakeParticipant, type FakeSession } from "./fake-session.ts";
import type { VirtualClock } from "../virtual-clock.ts";

/** Returns a function that generates numbers from 0 to 1, always the same ones for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The faults of an unreliable room. Each is a share of all packets. */
export interface RoomFaults {
  readonly lost: number;
  readonly doubled: number;
  /** Packets that arrive much later than others. */
  readonly late: number;
}

/** What happened, in order, for checks after the run. */
export interface RoomEvent {
  readonly at: number;
  readonly kind: "executed" | "claim" | "decline" | "answer" | "left";
  readonly identity: string;
  readonly callId: string;
}

/**
 * A room whose packets are lost, duplicated, delayed and thus reordered, depending on a seed. Joins and leaves are
 * never lost.
 */
export class FakeRoom {
  readonly clients = new Map<string, FakeClient>();
  readonly events: RoomEvent[] = [];
  readonly sent: { readonly bytes: Uint8Array; readonly to: readonly string[] | undefined }[] = [];
  readonly clock: VirtualClock;
  readonly random: () => number;
  readonly #faults: RoomFaults;
  fake: FakeSession | undefined;

  constructor(clock: VirtualClock, random: () => number, faults: RoomFaults) {
    this.clock = clock;
    this.random = random;
    this.#faults = faults;
  }

  chance(share: number): boolean {
    return this.random() < share;
  }

  note(kind: RoomEvent["kind"], identity: string, callId: string): void {
    this.events.push({ at: this.clock.now, kind, identity, callId });
  }

  /** Publishes a packet from the session. Resolves as LiveKit does, whether or not anyone receives the packet. */
  publish(bytes: Uint8Array, to: readonly string[] | undefined): Promise<void> {
    this.sent.push({ bytes, to });
    for (const client of this.clients.values()) {
      if (to && !to.includes(client.identity)) continue;
      const join = client.join;
      this.#carry(() => client.join === join && client.isPresent && client.receive(bytes));
    }
    return Promise.resolve();
  }

  toSession(from: FakeClient, bytes: Uint8Array, onDelivered: () => void): void {
    const { join, identity } = from;
    this.#carry(() => {
      if (!from.isPresent || from.join !== join) return;
      onDelivered();
      this.fake?.session.handle({ type: "packet", from: fakeParticipant(identity, join), bytes });
    });
  }

  #carry(deliver: () => unknown): void {
    const { lost, doubled, late } = this.#faults;
    const copies = (this.chance(lost) ? 0 : 1) + (this.chance(doubled) ? 1 : 0);
    for (let copy = 0; copy < copies; copy++) {
      this.clock.after(this.random() * (this.chance(late) ? 3_000 : 40), () => void deliver());
    }
  }
}

type ToolList = NonNullable<MessageBody<"configuration">["tools"]>;

/** A client that obeys the protocol: it runs each request id once, and repeats the stored result when asked again. */
export class FakeClient {
  readonly identity: string;
  readonly answered = new Set<string>();
  join = 0;
  isPresent = false;
  /** Whether the client supports claims. Without this, it ignores some `either` requests, and runs the others. */
  claims = true;
  readonly #room: FakeRoom;
  readonly #tools: ToolList | undefined;
  readonly #results = new Map<string, MessageBody<"tool_use_result"> | "running">();
  readonly #declined = new Set<string>();
  #stanza = 0;

  /** @param tools `undefined` if the client never announces any */
  constructor(room: FakeRoom, identity: string, tools: ToolList | undefined) {
    this.#room = room;
    this.identity = identity;
    this.#tools = tools;
    room.clients.set(identity, this);
  }

  enter(): void {
    this.join++;
    this.isPresent = true;
    this.#stanza = 0;
    this.#room.fake?.session.handle({ type: "joined", participant: fakeParticipant(this.identity, this.join) });
    this.configure();
  }

  leave(): void {
    this.isPresent = false;
    this.#room.note("left", this.identity, "");
    this.#room.fake?.session.handle({ type: "left", identity: this.identity });
  }

  configure(): void {
    const tools = this.#tools && { tools: this.#tools };
    this.send({
      type: "configuration",
      body: { features: [...(this.claims ? ["claims"] : []), "tool_use_cancel"], ...tools },
    });
  }

  /** Repeats the message until the worker answers. */
  ask(content: string, id = createId()): void {
    if (this.answered.has(id)) return;
    this.send({ type: "user_message", body: { id, content } });
    this.#room.clock.after(2_000, () => this.ask(content, id));
  }

  send(message: Message, onDelivered: () => void = () => {}): void {
    if (this.isPresent) this.#room.toSession(this, encode(++this.#stanza, message), onDelivered);
  }

  receive(bytes: Uint8Array): void {
    const { stanzaId, message } = decode(bytes);
    if (message.type === "start_answer") this.answered.add(message.body.previousId);
    if (message.type === "tool_use_request" && message.body.execution !== "server") this.#take(stanzaId, message.body);
  }

  #take(stanzaId: number, { id, execution, timeoutMs = 30_000 }: MessageBody<"tool_use_request">): void {
    const room = this.#room;
    const known = this.#results.get(id);
    const isTaken = () => {
      return this.claims ? this.#claim(stanzaId, id, known !== undefined) : known !== undefined || room.chance(0.9);
    };
    if (execution === "either" && !isTaken()) return;
    if (known === "running") return;
    if (known) return this.#answer(known);
    this.#results.set(id, "running");
    room.note("executed", this.identity, id);
    room.clock.after(room.random() * timeoutMs * 1.4, () => {
      const isGood = room.chance(0.8);
      const result = isGood
        ? { success: true, result: { by: this.identity, id } }
        : { success: false, errorCode: "oops" };
      this.#results.set(id, { id, ...result });
      this.#answer({ id, ...result });
    });
  }

  #answer(result: MessageBody<"tool_use_result">): void {
    this.send({ type: "tool_use_result", body: result }, () => this.#room.note("answer", this.identity, result.id));
  }

  /** Claims the call, declines it or stays silent, at random. Never changes a decision that it has sent. */
  #claim(stanzaId: number, id: string, isKnown: boolean): boolean {
    const room = this.#room;
    const choice = isKnown ? 0 : room.random();
    if (choice > 0.9) return false;
    const success = choice < 0.75 && !this.#declined.has(id);
    if (!success) this.#declined.add(id);
    const body = { acknowledgedStanzaId: Math.abs(stanzaId), success };
    this.send({ type: "acknowledgement", body }, () => room.note(success ? "claim" : "decline", this.identity, id));
    return success;
  }
}
