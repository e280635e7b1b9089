import { setTimeout as sleep } from "node:timers/promises";
import { Cleanup } from "../../lib/cleanup.ts";
import { createId } from "../../lib/id.ts";
import { conversationIdOfRoom } from "../../protocol/conversation-id.ts";
import {
  type Message,
  type MessageBody,
  MESSAGES,
  type SentBy,
  workerFeatures,
} from "../../protocol/messages/messages.ts";
import { KitFault, NotApplicable } from "../check.ts";
import { type Arrival, bodiesOf, encodeOwn, type Frame, readFrame, type FrameKind } from "../wire/frame.ts";
import { Inbox } from "../wire/inbox.ts";
import { pack } from "../wire/pack.ts";
import { grantToken } from "../../livekit/grant-token.ts";
import { TOPIC } from "../../protocol/limits.ts";
import { type LivekitServer, RoomConnection } from "../wire/room-end.ts";
import { ClientProgram } from "./client-program.ts";

const CLIENT = "client";
/** How long the program's runtime may take to start and the client to join the room. */
export const STARTS_WITHIN_MS = 15_000;
/**
 * How long `settle` waits after the client has answered its request. By then, the client's reactions to all earlier
 * messages have arrived.
 */
const QUIET_MS = 150;
const CHECK_EVERY_MS = 20;
export const TOOLS = ["echo", "slow", "fail", "big", "report"];

export interface ClientTalkOptions {
  readonly livekit: LivekitServer;
  readonly command: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** LiveKit's URL for the client's program, if it differs from the server's own. */
  readonly clientUrl?: string;
  /** @defaultValue all tools */
  readonly tools?: readonly string[];
  readonly features?: readonly string[];
  /** Whether the room's name has the form `conv_ac_X`. @defaultValue true */
  readonly hasNamedRoom?: boolean;
  /** Whether the worker joins before the client. @defaultValue true */
  readonly hasWorker?: boolean;
}

type WorkerMessage = Message<SentBy<"worker">>;
type Request = MessageBody<"tool_use_request">;

interface SendOptions {
  /** @defaultValue the next one */
  readonly stanzaId?: number;
  readonly way?: FrameKind;
  readonly topic?: string;
}

/**
 * A room with the client under test and the kit's worker, which acknowledges messages, sends its Configuration, and
 * records everything.
 */
export class ClientTalk implements AsyncDisposable {
  readonly roomName: string;
  readonly conversationId: string;
  /** All frames that the client sent, including frames to earlier workers in this room. */
  readonly frames = new Inbox<Frame>();
  /** The indexes in `frames.items` at which the client rejoined. */
  readonly joins: number[] = [0];
  /** Decides whether the worker acknowledges a frame. */
  acknowledges: (frame: Frame) => boolean = () => true;
  /**
   * Resends lost messages. Called after the worker has acknowledged the client's Configuration, and before the worker
   * sends its own.
   */
  replay: () => void = () => {};
  readonly #options: ClientTalkOptions;
  readonly #cleanup = new Cleanup();
  #program: ClientProgram | undefined;
  #worker: RoomConnection | undefined;
  #lastStanza = 0;

  private constructor(options: ClientTalkOptions) {
    const { hasNamedRoom = true } = options;
    this.#options = options;
    this.roomName = `${hasNamedRoom ? "conv_ac_" : "conformance-"}${createId()}`;
    this.conversationId = conversationIdOfRoom(this.roomName);
  }

  /**
   * Opens a room and starts the client. Resolves when the client has sent its Configuration or, without a worker, when
   * the client has been started.
   */
  static async open(options: ClientTalkOptions): Promise<ClientTalk> {
    const talk = new ClientTalk(options);
    try {
      if (options.hasWorker ?? true) await talk.startWorker();
      await talk.#startClient();
      if (options.hasWorker ?? true) await talk.nextConfiguration(0, STARTS_WITHIN_MS);
      return talk;
    } catch (error) {
      await talk[Symbol.asyncDispose]();
      throw error;
    }
  }

  get program(): ClientProgram {
    if (!this.#program) throw new KitFault("The client was not started");
    return this.#program;
  }

  /** The number of the worker's last stanza, which is negative. */
  get lastStanza(): number {
    return this.#lastStanza;
  }

  async startWorker(): Promise<void> {
    const { livekit } = this.#options;
    const identity = `agent-${createId()}`;
    const token = await grantToken(livekit, { room: this.roomName, identity, kind: "agent" });
    this.#worker = await RoomConnection.join(livekit.url, token, (arrival) => this.#take(arrival));
  }

  /** Makes the worker leave the room without sending anything. */
  async stopWorker(): Promise<void> {
    await this.#worker?.[Symbol.asyncDispose]();
    this.#worker = undefined;
  }

  onClose(close: () => Promise<void> | undefined): void {
    this.#cleanup.defer(close);
  }

  /** Adds a participant that is not a worker. The participant leaves when this room is closed. */
  async joinStranger(onArrival: (arrival: Arrival) => void = () => {}): Promise<RoomConnection> {
    const { livekit } = this.#options;
    const token = await grantToken(livekit, { room: this.roomName, identity: `stranger-${createId()}` });
    return this.#cleanup.use(await RoomConnection.join(livekit.url, token, onArrival));
  }

  /** Waits until LiveKit has announced a participant to the kit's worker, for at most `withinMs`. */
  async untilAnnounced({ room: { localParticipant } }: RoomConnection, withinMs: number): Promise<void> {
    const isKnown = () => this.#worker?.room.remoteParticipants.has(localParticipant?.identity ?? "") ?? false;
    const until = performance.now() + withinMs;
    while (!isKnown() && performance.now() < until) await sleep(CHECK_EVERY_MS);
  }

  /** Sends a valid message. @throws {KitFault} if the message is not valid */
  async send(message: WorkerMessage, options: SendOptions = {}): Promise<number> {
    const stanzaId = options.stanzaId ?? this.nextStanza();
    await this.sendBytes(encodeOwn({ stanzaId, conversationId: this.conversationId, message }, "worker"), options);
    return stanzaId;
  }

  /** Sends a message whose body may be invalid. */
  async sendWrong(type: number, body: object, options: SendOptions = {}): Promise<number> {
    const stanzaId = options.stanzaId ?? this.nextStanza();
    await this.sendBytes(this.packEnvelope(stanzaId, type, body), options);
    return stanzaId;
  }

  packEnvelope(stanzaId: number, type: number, body: object): Uint8Array {
    const { conversationId } = this;
    return pack({ stanzaId, conversationId, type, meta: {}, body: { conversationId, ...body } });
  }

  async sendBytes(bytes: Uint8Array, { way, topic }: SendOptions = {}): Promise<void> {
    const options = { ...(way && { way }), ...(topic !== undefined && { topic }), to: [CLIENT] };
    try {
      await this.#worker?.publish(bytes, options);
    } catch (error) {
      throw new KitFault("The kit's worker could not send", { cause: error });
    }
  }

  /** Uses up a stanza number without sending anything, for a message that is lost or sent later. */
  nextStanza(): number {
    return (this.#lastStanza -= 1);
  }

  /** Asks the client to run a call. @returns the request, so that it can be resent */
  async request(request: Partial<Request> & Pick<Request, "toolName">, options: SendOptions = {}): Promise<Request> {
    const body: Request = { id: createId(), messageId: "msg_a1", parameters: {}, execution: "client", ...request };
    await this.send({ type: "tool_use_request", body }, options);
    return body;
  }

  /** Waits for the first result of a request. */
  async result(id: string, withinMs?: number): Promise<MessageBody<"tool_use_result">> {
    return this.next("tool_use_result", (body) => body.id === id, withinMs);
  }

  results(id: string): MessageBody<"tool_use_result">[] {
    return this.all("tool_use_result").filter((body) => body.id === id);
  }

  /** Returns how many times the client has started to run a request. */
  runs(id: string): number {
    return this.program.all("run").filter((event) => event["id"] === id).length;
  }

  /** Waits until the client has had time to react to earlier messages and to report its reaction. */
  async settle(withinMs?: number): Promise<void> {
    const { id } = await this.request({ toolName: "echo", parameters: { settled: true } });
    await this.result(id, withinMs);
    await this.program.next("run", (event) => event["id"] === id);
    await sleep(QUIET_MS);
  }

  all<Type extends Message["type"]>(type: Type): MessageBody<Type>[] {
    return bodiesOf(this.frames.items, type);
  }

  async next<Type extends Message["type"]>(
    type: Type,
    fits: (body: MessageBody<Type>) => boolean = () => true,
    withinMs?: number,
  ): Promise<MessageBody<Type>> {
    return this.frames.next(() => this.all(type).find(fits), `a ${type} from the client`, withinMs);
  }

  /** Waits for the first Configuration after this many frames. */
  async nextConfiguration(after: number, withinMs?: number): Promise<Frame> {
    const look = (frames: readonly Frame[]) =>
      frames.slice(after).find(({ message }) => message?.type === "configuration");
    return this.frames.next(look, "the client's Configuration", withinMs);
  }

  /** @throws {NotApplicable} if the client's first Configuration does not announce the feature */
  needs(feature: string): void {
    const [configuration] = this.all("configuration");
    if (configuration?.features?.includes(feature) !== true) {
      throw new NotApplicable(`The client does not name the feature ${feature}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#program?.[Symbol.asyncDispose](), this.stopWorker(), this.#cleanup.disposeAsync()]);
  }

  async #startClient(): Promise<void> {
    const { livekit, command, environment, clientUrl = livekit.url, tools = TOOLS, features = [] } = this.#options;
    this.#program = new ClientProgram(command, {
      ...environment,
      LIVEKIT_URL: clientUrl,
      LIVEKIT_TOKEN: await grantToken(livekit, { room: this.roomName, identity: CLIENT }),
      CONFORMANCE_TOOLS: tools.join(","),
      CONFORMANCE_FEATURES: features.join(","),
    });
    void this.#program.ended.then((why) => this.frames.end(why));
  }

  #take(arrival: Arrival): void {
    // Ignore frames from other participants. A frame whose sender is not announced yet must be the client's, because
    // the kit's strangers send only to the client.
    if (arrival.from !== undefined && arrival.from !== CLIENT) return;
    // Ignore other topics: rooms also carry other applications' data.
    if (arrival.topic !== TOPIC && arrival.topic !== "") return;
    const isFirst = this.frames.items.length === this.joins.at(-1);
    const frame = readFrame(arrival, { side: "client", conversationId: this.conversationId, isFirst });
    this.frames.add(frame);
    const { stanzaId, message } = frame;
    if (stanzaId <= 0 || !this.acknowledges(frame)) return;
    this.#post({ type: "acknowledgement", body: { acknowledgedStanzaId: stanzaId, success: true } }, 0);
    if (message?.type !== "configuration") return;
    this.replay();
    this.#post({ type: "configuration", body: { features: workerFeatures(), tools: [] } });
  }

  #post(message: WorkerMessage, stanzaId?: number): void {
    void this.send(message, stanzaId === undefined ? {} : { stanzaId }).catch((error: unknown) => {
      // If the fault has a cause, sending failed because the worker has just been stopped. If not, the message was
      // invalid, which is the kit's own fault.
      if (error instanceof KitFault && error.cause === undefined) this.frames.blame(error);
    });
  }
}

/** The number of a message type, for `sendWrong`. */
export const numberOf = (type: Message["type"]): number => MESSAGES[type].number;
