import type { RoomPeer, Transport, TransportListener } from "../../client/room/transport.ts";
import type { OnRoomInput, RoomParticipant } from "../../session/room/room-input.ts";

const AGENT: RoomPeer = { identity: "agent-test", isAgent: true };

/**
 * An in-memory room with an agent and one participant. Bytes arrive in the order in which they were sent. They always
 * arrive after the sending call has returned, so neither end receives anything in the middle of its own call.
 */
export class MemoryRoom {
  readonly name = "test";
  readonly #identity: string;
  readonly #take: OnRoomInput;
  #listener: TransportListener | undefined;
  #joins = 0;
  #isIn = false;

  /** @param take receives what the agent would receive from the room */
  constructor(identity: string, take: OnRoomInput) {
    this.#identity = identity;
    this.#take = take;
  }

  /** Sends bytes from the agent. */
  publish(bytes: Uint8Array, to: readonly string[] | undefined): Promise<void> {
    const join = this.#joins;
    if (!to || to.includes(this.#identity))
      setImmediate(() => {
        if (this.#isIn && join === this.#joins) this.#listener?.onPacket(bytes, AGENT);
      });
    return Promise.resolve();
  }

  /** Lets the participant join, or rejoin. */
  enter(): Transport {
    this.#isIn = true;
    this.#joins += 1;
    this.#take({ type: "joined", participant: this.#participant });
    return this.#transport;
  }

  get isPresent(): boolean {
    return this.#isIn;
  }

  leave(): void {
    if (!this.#isIn) return;
    this.#isIn = false;
    this.#take({ type: "left", identity: this.#identity });
    this.#listener?.onDisconnected();
  }

  get #participant(): RoomParticipant {
    return { identity: this.#identity, sid: `PA_${this.#joins}`, isSip: false };
  }

  readonly #send = (bytes: Uint8Array): Promise<void> => {
    const from = this.#participant;
    setImmediate(() => {
      if (this.#isIn && from.sid === this.#participant.sid) this.#take({ type: "packet", from, bytes });
    });
    return Promise.resolve();
  };

  readonly #transport: Transport = ((room: MemoryRoom): Transport => ({
    get isConnected() {
      return room.#isIn;
    },
    roomName: room.name,
    peers: [AGENT],
    sendPacket: (bytes) => room.#send(bytes),
    sendStream: (bytes) => room.#send(bytes),
    listen: (listener) => {
      room.#listener = listener;
      return () => {
        if (room.#listener === listener) room.#listener = undefined;
      };
    },
  }))(this);
}
