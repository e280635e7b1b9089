import { setTimeout as sleep } from "node:timers/promises";
import { createId } from "../../lib/id.ts";
import { isServing } from "../../protocol/attributes.ts";
import { conversationIdOfRoom } from "../../protocol/conversation-id.ts";
import { type Message, type MessageBody, type SentBy, workerFeatures } from "../../protocol/messages/messages.ts";
import { KitFault, SubjectFault } from "../check.ts";
import { type Arrival, bodiesOf, encodeOwn, type Frame, readFrame, type FrameKind } from "../wire/frame.ts";
import { Inbox } from "../wire/inbox.ts";
import { pack } from "../wire/pack.ts";
import { TOPIC } from "../../protocol/limits.ts";
import { RoomConnection } from "../wire/room-end.ts";

/** What a client needs to join a room. */
export interface Access {
  readonly token: string;
  readonly livekitUrl: string;
}
export type AccessProvider = (room: string, identity: string) => Promise<Access>;

type Configuration = MessageBody<"configuration">;
type ClientMessage = Message<SentBy<"client">>;

export interface SendOptions {
  /** @defaultValue the next one */
  readonly stanzaId?: number;
  readonly way?: FrameKind;
  readonly topic?: string;
}

const AGENT_KIND = 4;
const WORKER_WITHIN_MS = 20_000;
const AGAIN_AFTER_MS = 3_000;
/**
 * How long `settle` waits after the worker has acknowledged its message. By then, the worker's reactions to all earlier
 * messages have arrived.
 */
const QUIET_MS = 150;

export const anyInput = { type: "object" } as const;

/** The kit's client. It sends what the checks ask for, records everything, and never answers by itself. */
export class KitClient implements AsyncDisposable {
  readonly frames = new Inbox<Frame>();
  readonly #conversationId: string;
  readonly #end: RoomConnection;
  #stanza = 0;

  private constructor(end: RoomConnection, conversationId: string) {
    this.#end = end;
    this.#conversationId = conversationId;
  }

  /** Joins a room and waits until a worker has joined. */
  static async join(grantAccess: AccessProvider, room: string, identity: string): Promise<KitClient> {
    const { token, livekitUrl } = await grantAccess(room, identity);
    const early: Arrival[] = [];
    let take = (arrival: Arrival): void => void early.push(arrival);
    const end = await RoomConnection.join(livekitUrl, token, (arrival) => take(arrival));
    const client = new KitClient(end, conversationIdOfRoom(room));
    take = (arrival) => client.#take(arrival);
    for (const arrival of early) take(arrival);
    await client.#waitForWorker();
    return client;
  }

  async #waitForWorker(): Promise<void> {
    const giveUpAt = performance.now() + WORKER_WITHIN_MS;
    while (this.#agents().length === 0) {
      if (performance.now() > giveUpAt) {
        await this[Symbol.asyncDispose]();
        throw new SubjectFault(`No worker joined the room within ${WORKER_WITHIN_MS} ms`);
      }
      await sleep(20);
    }
  }

  /**
   * Sends a Configuration as a stream, and resolves when the worker has acknowledged it and sent its own Configuration.
   * Like every client, resends the stream until an Ack arrives: LiveKit may drop a stream when other participants flood
   * the agent.
   */
  async configure(configuration: Configuration = {}): Promise<void> {
    const message = { type: "configuration", body: configuration } as const;
    const stanzaId = await this.send(message, { way: "stream" });
    const again = setInterval(() => {
      if (!this.isAcknowledged(stanzaId)) this.send(message, { way: "stream", stanzaId }).catch(() => {});
    }, AGAIN_AFTER_MS);
    const look = (frames: readonly Frame[]) => {
      const ack = frames.findIndex(isAckOf(stanzaId));
      return ack === -1 ? undefined : frames.slice(ack).find(({ message }) => message?.type === "configuration");
    };
    try {
      await this.frames.next(look, "the worker's Configuration after its Ack of ours", 10_000);
    } finally {
      clearInterval(again);
    }
  }

  /** Sends a valid message. @throws {KitFault} if the message is not valid */
  async send(message: ClientMessage, options: SendOptions = {}): Promise<number> {
    const stanzaId = options.stanzaId ?? this.nextStanza();
    await this.sendBytes(encodeOwn({ stanzaId, conversationId: this.#conversationId, message }, "client"), options);
    return stanzaId;
  }

  /** Sends an envelope that may be invalid: the given keys replace the valid ones. */
  async sendWrong(envelope: {
    readonly type: number;
    readonly body?: object;
    readonly [key: string]: unknown;
  }): Promise<number> {
    const stanzaId = this.nextStanza();
    const conversationId = this.#conversationId;
    const body = { conversationId, ...envelope.body };
    await this.sendBytes(pack({ stanzaId, conversationId, meta: {}, ...envelope, body }));
    return stanzaId;
  }

  async sendBytes(bytes: Uint8Array, { way, topic }: SendOptions = {}): Promise<void> {
    try {
      const options = { ...(way && { way }), ...(topic !== undefined && { topic }) };
      await this.#end.publish(bytes, { ...options, to: this.#agents() });
    } catch (error) {
      throw new KitFault("The kit's client could not send", { cause: error });
    }
  }

  nextStanza(): number {
    return (this.#stanza += 1);
  }

  /** Sends a message from the participant. @returns the message's id */
  async say(content: string, options: SendOptions = {}): Promise<string> {
    const id = createId();
    await this.send({ type: "user_message", body: { id, content } }, options);
    return id;
  }

  async answer(id: string, result: Omit<MessageBody<"tool_use_result">, "id">): Promise<number> {
    return this.send({ type: "tool_use_result", body: { id, ...result } });
  }

  async acknowledged(stanzaId: number): Promise<Frame> {
    return this.frames.next((frames) => frames.find(isAckOf(stanzaId)), `the Ack of stanza ${stanzaId}`);
  }

  all<Type extends Message["type"]>(type: Type): MessageBody<Type>[] {
    return bodiesOf(this.frames.items, type);
  }

  async next<Type extends Message["type"]>(
    type: Type,
    fits: (body: MessageBody<Type>) => boolean = () => true,
    withinMs?: number,
  ): Promise<MessageBody<Type>> {
    return this.frames.next(() => this.all(type).find(fits), `a ${type} from the worker`, withinMs);
  }

  /** Waits for the final sentence of the answer to a message. @returns the answer's id */
  async answered(messageId: string): Promise<string> {
    const { id } = await this.next("start_answer", ({ previousId }) => previousId === messageId, 10_000);
    await this.next("assistant_sentence", (body) => body.previousId === id && body.isFinal, 10_000);
    return id;
  }

  isAcknowledged(stanzaId: number): boolean {
    return this.frames.items.some(isAckOf(stanzaId));
  }

  isAnswered(messageId: string): boolean {
    return this.all("start_answer").some(({ previousId }) => previousId === messageId);
  }

  /** Waits until the worker has had time to react to earlier messages. */
  async settle(): Promise<void> {
    await this.acknowledged(await this.send({ type: "audio_chunk", body: {} }));
    await sleep(QUIET_MS);
  }

  /**
   * Waits until the worker has answered all earlier messages: it answers one after another, so that an answer to an
   * earlier message arrives before the answer to a new one.
   */
  async settleAnswers(): Promise<void> {
    await this.answered(await this.say("Hello after what was sent before"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end[Symbol.asyncDispose]();
  }

  #agents(): string[] {
    const participants = [...this.#end.room.remoteParticipants.values()];
    const agents = participants.filter(({ kind, attributes }) => Number(kind) === AGENT_KIND && isServing(attributes));
    return agents.map(({ identity }) => identity);
  }

  #take(arrival: Arrival): void {
    if (arrival.topic !== TOPIC) return;
    this.frames.add(readFrame(arrival, { side: "worker", conversationId: this.#conversationId, isFirst: false }));
  }
}

function isAckOf(stanzaId: number): (frame: Frame) => boolean {
  return ({ message }) => message?.type === "acknowledgement" && message.body.acknowledgedStanzaId === stanzaId;
}

/** Returns a Configuration with every feature and the given tools. */
export function withTools(...tools: NonNullable<Configuration["tools"]>): Configuration {
  return { clientVersion: "conformance kit", features: workerFeatures(), tools };
}
