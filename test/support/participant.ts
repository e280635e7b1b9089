import { once } from "node:events";
import { ParticipantKind, Room, RoomEvent, type SimulateScenarioKind } from "@livekit/rtc-node";
import { AccessToken, type VideoGrant } from "livekit-server-sdk";
import { inject } from "vitest";
import { AGENT_PREFIX, conversationIdOfRoom } from "../../src/protocol/conversation-id.ts";
import type { JsonObject } from "../../src/lib/json.ts";
import { createId } from "../../src/lib/id.ts";
import { encodeEnvelope } from "../../src/protocol/codec/codec.ts";
import { decodeEnvelope } from "../../src/protocol/codec/decode-envelope.ts";
import type { Message, MessageBody } from "../../src/protocol/messages/messages.ts";

type Type = Message["type"];
export interface ReceivedEnvelope<T extends Type = Type> {
  readonly stanzaId: number;
  readonly meta: JsonObject;
  readonly message: Extract<Message, { type: T }>;
}

/** A LiveKit server and its keys, by default those of the test run. */
export interface Server {
  readonly url: string;
  readonly apiKey: string;
  readonly apiSecret: string;
}

function sharedServer(): Server {
  return { url: inject("livekitUrl"), apiKey: inject("livekitApiKey"), apiSecret: inject("livekitApiSecret") };
}

interface TokenOptions extends VideoGrant {
  readonly kind?: "standard" | "agent" | "sip";
  readonly server?: Server;
  readonly ttlSeconds?: number;
  /** The display name. */
  readonly name?: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

export async function createToken(room: string, identity: string, options: TokenOptions = {}): Promise<string> {
  const { kind = "standard", server = sharedServer(), ttlSeconds, name, attributes, ...grant } = options;
  const details = {
    ...(ttlSeconds !== undefined && { ttl: ttlSeconds }),
    ...(name !== undefined && { name }),
    ...(attributes && { attributes: { ...attributes } }),
  };
  const token = new AccessToken(server.apiKey, server.apiSecret, { identity, ...details });
  token.kind = kind;
  token.addGrant({ room, roomJoin: true, canPublish: true, canSubscribe: true, canPublishData: true, ...grant });
  return token.toJwt();
}

/**
 * A client of the protocol as another team might write it: it uses only bytes and LiveKit, and does nothing by itself.
 * If the client's packets matter, the agent must join the room first, because LiveKit keeps nothing for participants
 * who join later.
 */
export class Participant implements AsyncDisposable {
  readonly room = new Room();
  readonly received: ReceivedEnvelope[] = [];
  /** The received packets, including any that could not be decoded, as raw bytes. */
  readonly packets: Uint8Array[] = [];
  readonly #roomName: string;
  readonly #waiting = new Set<() => void>();
  #stanza = 0;
  #hasLeft = false;

  private constructor(roomName: string) {
    this.#roomName = roomName;
    const take = (bytes: Uint8Array) => {
      this.packets.push(bytes);
      const incoming = decodeEnvelope(bytes);
      if ("message" in incoming) {
        const { stanzaId, meta, message } = incoming;
        this.received.push({ stanzaId, meta, message });
      }
      for (const wake of this.#waiting) wake();
    };
    this.room.on(RoomEvent.DataReceived, (...[bytes, sender, , topic]) => {
      if (topic === "parley" && (!sender || sender.kind === ParticipantKind.AGENT)) take(bytes);
    });
    this.room.registerByteStreamHandler("parley", (reader, { identity }) => {
      // Only the agent's streams are read: those from other clients are meant for the agent, and some tests break them.
      // An agent that has not been announced yet is known by its identity.
      const sender = this.room.remoteParticipants.get(identity);
      if (sender ? sender.kind !== ParticipantKind.AGENT : !identity.startsWith(AGENT_PREFIX)) return;
      void reader.readAll().then(
        (chunks) => {
          // When a participant leaves, LiveKit ends its unfinished streams as if they were complete.
          if (!this.#hasLeft) take(Buffer.concat(chunks));
        },
        () => {},
      );
    });
  }

  static async join(roomName: string, identity: string, options: TokenOptions = {}): Promise<Participant> {
    const participant = new Participant(roomName);
    const { url } = options.server ?? sharedServer();
    await participant.room.connect(url, await createToken(roomName, identity, options), {
      autoSubscribe: false,
      dynacast: false,
    });
    return participant;
  }

  /** Sends one message as a packet, or as a byte stream if it is long or `asStream` is set. */
  async send(
    message: Message,
    { stanzaId, asStream = false, meta = {} }: { stanzaId?: number; asStream?: boolean; meta?: JsonObject } = {},
  ): Promise<number> {
    const id = stanzaId ?? ++this.#stanza;
    const conversationId = conversationIdOfRoom(this.#roomName);
    await this.sendBytes(encodeEnvelope({ stanzaId: id, conversationId, meta, message }), asStream);
    return id;
  }

  async sendBytes(bytes: Uint8Array, asStream = false): Promise<void> {
    const local = this.room.localParticipant;
    if (!local) throw new Error("not connected");
    if (!asStream && bytes.length <= 15_000) return local.publishData(bytes, { reliable: true, topic: "parley" });
    const writer = await local.streamBytes({ topic: "parley" });
    await writer.write(bytes);
    await writer.close();
  }

  /**
   * Calls `take` with each text on a topic, once the text is complete. Drops a text that is incomplete when this
   * participant leaves.
   */
  onText(topic: string, take: (text: string, identity: string) => void): void {
    this.room.registerTextStreamHandler(topic, (reader, { identity }) => {
      const read = async () => {
        const text = await reader.readAll();
        if (!this.#hasLeft) take(text, identity);
      };
      read().catch((error: unknown) => {
        if (!this.#hasLeft) throw error;
      });
    });
  }

  /**
   * Sends a Configuration, and waits for the worker's. It is sent as a stream, so that the client's identity is known
   * at once.
   */
  async configure(body: MessageBody<"configuration">): Promise<void> {
    const stanzaId = await this.send({ type: "configuration", body }, { asStream: true });
    const isAck = ({ message }: ReceivedEnvelope) =>
      message.type === "acknowledgement" && message.body.acknowledgedStanzaId === stanzaId;
    const answer = () => this.received.slice(this.received.findLastIndex(isAck) + 1).map(({ message }) => message.type);
    await this.until(
      () => this.received.some(isAck) && answer().includes("configuration"),
      "the worker's configuration",
    );
  }

  async say(content: string, id = createId()): Promise<string> {
    await this.send({ type: "user_message", body: { id, content } });
    return id;
  }

  /** @returns the stanza's number */
  async answer(id: string, result: Omit<MessageBody<"tool_use_result">, "id">): Promise<number> {
    return this.send({ type: "tool_use_result", body: { id, ...result } });
  }

  all<T extends Type>(type: T): MessageBody<T>[] {
    return this.received.flatMap(({ message }) => (message.type === type ? [message.body as MessageBody<T>] : []));
  }

  /** The first matching message of a type, among those received so far or within `timeoutMs`. */
  async next<T extends Type>(
    type: T,
    fits: (body: MessageBody<T>) => boolean = () => true,
    timeoutMs = 10_000,
  ): Promise<MessageBody<T>> {
    let found: MessageBody<T> | undefined;
    await this.until(() => (found = this.all(type).find(fits)) !== undefined, `a ${type}`, timeoutMs);
    return found as MessageBody<T>;
  }

  /** The whole text of the answer to a message, once its final sentence has arrived. */
  async answerTo(messageId: string, timeoutMs = 10_000): Promise<string> {
    const start = await this.next("start_answer", (body) => body.previousId === messageId, timeoutMs);
    const isOurs = (body: MessageBody<"assistant_sentence">) => body.previousId === start.id;
    await this.next("assistant_sentence", (body) => isOurs(body) && body.isFinal, timeoutMs);
    const sentences = this.all("assistant_sentence").filter(isOurs);
    return sentences
      .map((body) => body.text)
      .filter(Boolean)
      .join(" ");
  }

  async until(condition: () => boolean, what: string, timeoutMs = 10_000): Promise<void> {
    if (condition()) return;
    const done = Promise.withResolvers<void>();
    const check = () => {
      if (condition()) done.resolve();
    };
    const types = () => this.received.map(({ message }) => message.type).join(", ");
    const timer = setTimeout(() => done.reject(new Error(`${what} did not come; got: ${types()}`)), timeoutMs);
    this.#waiting.add(check);
    try {
      await done.promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(check);
    }
  }

  /** Loses the connection, and resolves once it is back. Messages sent before then may be lost. */
  async reconnect(scenario: SimulateScenarioKind, meanwhile: () => Promise<void> = async () => {}): Promise<void> {
    const back = once(this.room, RoomEvent.Reconnected);
    await this.room.simulateScenario(scenario);
    await meanwhile();
    await back;
  }

  async leave(): Promise<void> {
    this.#hasLeft = true;
    await this.room.disconnect();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave();
  }
}
