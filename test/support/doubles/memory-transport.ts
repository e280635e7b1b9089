import type { RoomPeer, Transport, TransportListener } from "../../../src/client/room/transport.ts";
import { encodeEnvelope } from "../../../src/protocol/codec/codec.ts";
import { decodeEnvelope } from "../../../src/protocol/codec/decode-envelope.ts";
import type { Message, MessageBody } from "../../../src/protocol/messages/messages.ts";

type Type = Message["type"];

export interface Heard {
  readonly stanzaId: number;
  readonly message: Message;
  readonly way: "packet" | "stream";
  readonly to: readonly string[];
  readonly conversationId: string;
}

const AGENT: RoomPeer = { identity: "agent-1", isAgent: true };

/** A room in memory with one client and one worker. The client uses `transport`, and the test plays the worker. */
export class MemoryRoom {
  readonly heard: Heard[] = [];
  readonly #peers = new Map<string, RoomPeer>();
  readonly #waiting = new Set<() => void>();
  #listener: TransportListener | undefined;
  #isConnected = true;
  #lastStanza = 0;
  /** Whether the worker acknowledges the client's messages. */
  acknowledges = true;
  /** Whether sends hang forever, as in an outage. */
  hangs = false;
  roomName = "conv_ac_1";
  /** The agent's methods that the client has called. */
  readonly methods: string[] = [];
  /** Whether the agent refuses to start a turn. */
  isBusy = false;

  constructor({ hasAgent = true }: { readonly hasAgent?: boolean } = {}) {
    if (hasAgent) this.#peers.set(AGENT.identity, AGENT);
  }

  get listenerCount(): number {
    return this.#listener ? 1 : 0;
  }

  readonly transport: Transport = ((room: MemoryRoom) => ({
    get isConnected() {
      return room.#isConnected;
    },
    get roomName() {
      return room.roomName;
    },
    get peers() {
      return [...room.#peers.values()];
    },
    sendPacket: (bytes: Uint8Array, to: readonly string[]) => room.#hear(bytes, "packet", to),
    sendStream: (bytes: Uint8Array, to: readonly string[]) => room.#hear(bytes, "stream", to),
    callMethod: async (method: string) => {
      room.methods.push(method);
      if (room.isBusy) throw new Error("Another participant is speaking");
    },
    listen: (listener: TransportListener) => {
      room.#listener = listener;
      return () => {
        room.#listener = undefined;
      };
    },
  }))(this);

  join(peer: RoomPeer = AGENT): void {
    this.#peers.set(peer.identity, peer);
    this.#listener?.onJoined(peer);
  }

  /** Changes a participant's attributes. */
  change(peer: RoomPeer): void {
    this.#peers.set(peer.identity, peer);
    this.#listener?.onChanged?.(peer);
  }

  leave(peer: RoomPeer = AGENT): void {
    this.#peers.delete(peer.identity);
    this.#listener?.onLeft(peer);
  }

  disconnect(): void {
    this.#isConnected = false;
    this.#listener?.onDisconnected();
  }

  connect(): void {
    this.#isConnected = true;
    this.#listener?.onConnected();
  }

  /** Sends a message from the worker. `from: undefined` is a sender that LiveKit has not announced. */
  say(message: Message, { stanzaId, ...options }: { stanzaId?: number; from?: RoomPeer | undefined } = {}): number {
    const id = stanzaId ?? --this.#lastStanza;
    const from = "from" in options ? options.from : AGENT;
    this.#deliver(encodeEnvelope({ stanzaId: id, conversationId: "ac_1", message }), from);
    return id;
  }

  sayBytes(bytes: Uint8Array, options: { from?: RoomPeer | undefined } = {}): void {
    this.#deliver(bytes, "from" in options ? options.from : AGENT);
  }

  #deliver(bytes: Uint8Array, from: RoomPeer | undefined): void {
    if (this.#isConnected) this.#listener?.onPacket(bytes, from);
  }

  request(body: Partial<MessageBody<"tool_use_request">> & { readonly id: string }): number {
    const defaults = { messageId: "m1", toolName: "echo", parameters: {}, execution: "client" } as const;
    return this.say({ type: "tool_use_request", body: { ...defaults, ...body } });
  }

  all<T extends Type>(type: T): MessageBody<T>[] {
    return this.heard.flatMap(({ message }) => (message.type === type ? [message.body as MessageBody<T>] : []));
  }

  results(id: string): MessageBody<"tool_use_result">[] {
    return this.all("tool_use_result").filter((body) => body.id === id);
  }

  async result(id: string): Promise<MessageBody<"tool_use_result">> {
    await this.until(() => this.results(id).length > 0);
    return this.results(id)[0] as MessageBody<"tool_use_result">;
  }

  async until(condition: () => boolean, timeoutMs = 2_000): Promise<void> {
    if (condition()) return;
    const done = Promise.withResolvers<void>();
    const check = () => {
      if (condition()) done.resolve();
    };
    const types = () => this.heard.map(({ message }) => message.type).join(", ");
    const timer = setTimeout(() => done.reject(new Error(`It did not come; heard: ${types()}`)), timeoutMs);
    this.#waiting.add(check);
    try {
      await done.promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(check);
    }
  }

  async #hear(bytes: Uint8Array, way: "packet" | "stream", to: readonly string[]): Promise<void> {
    if (this.hangs) return new Promise(() => {});
    const incoming = decodeEnvelope(bytes);
    if (!("message" in incoming)) return;
    const { stanzaId, message, conversationId } = incoming;
    this.heard.push({ stanzaId, message, way, to, conversationId });
    await Promise.resolve();
    if (this.acknowledges) {
      const from = this.#peers.get(to[0] ?? "") ?? AGENT;
      const body = { acknowledgedStanzaId: stanzaId, success: true };
      this.say({ type: "acknowledgement", body }, { stanzaId: 0, from });
    }
    for (const wake of this.#waiting) wake();
  }
}
