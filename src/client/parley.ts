// Our types name AsyncDisposable, which the `lib` of a page may lack.
/// <reference lib="esnext.disposable" preserve="true" />
import { AppError, ERROR_CODES } from "../errors/app-error.ts";
import { createId } from "../lib/id.ts";
import type { JsonObject } from "../lib/json.ts";
import { refuseUnknownFields } from "../lib/checks/did-you-mean.ts";
import { conversationIdOfRoom } from "../protocol/conversation-id.ts";
import { MESSAGE_LIMITS } from "../protocol/limits.ts";
import type { Message, MessageBody } from "../protocol/messages/messages.ts";
import { toWireError } from "../protocol/wire-error.ts";
import { AgentLink } from "./room/agent-link.ts";
import { type Attachment, readAttachments } from "./attachment.ts";
import { ask, toError, type AskOptions, type WholeAnswer } from "./ask.ts";
import { EVENTS, type ParleyEvents } from "./client-events.ts";
import { type ClientTool, compileTool, type CompiledTool } from "./tools/client-tool.ts";
import { Emitter } from "./emitter.ts";
import { type PermissionAnswer, type PermissionOptions, toPermissionResponse } from "./permission-answer.ts";
import { IncomingMessages } from "./wire/incoming.ts";
import { ClientOutbox } from "./wire/client-outbox.ts";
import { ProgressSender } from "./tools/progress-sender.ts";
import { ToolRequests } from "./tools/tool-requests.ts";
import { type LiveKitRoom, toTransport } from "./room/room-transport.ts";
import type { Transport } from "./room/transport.ts";
import { DELIVER_WITHIN_MS } from "./wire/unacknowledged.ts";
import { type ParleyOptions, toConfiguration } from "./wire/own-configuration.ts";
import { WorkerMessages } from "./wire/worker-messages.ts";

const CLOSE_MS = 1_000;

export interface SendTextOptions {
  /** The turn becomes part of this trace (W3C Trace Context). */
  readonly traceparent?: string;
  /** What the model is shown with the text. @defaultValue nothing */
  readonly attachments?: readonly Attachment[];
}

export interface SentText {
  /** The message's id; its answer has it as `previousId`. */
  readonly messageId: string;
  /** Resolves when the worker has the message. Rejects with `unavailable` after 60 s, or on `close`. May be ignored. */
  readonly acknowledged: Promise<void>;
}

/**
 * A client of a Parley worker in one room, made by `connect`. It never joins or leaves the room: the application does.
 * Tools and open calls survive a reconnect, and a change of the room object by `rejoin`.
 */
export class Parley implements AsyncDisposable {
  readonly #options: ParleyOptions;
  readonly #tools = new Map<string, CompiledTool>();
  readonly #events = new Emitter<ParleyEvents>(EVENTS, (error, event) => this.#onHandlerThrew(error, event));
  #transport: Transport;
  /** The last that was known: a room that is not connected yet has no name. After `rejoin` it is the same room. */
  #roomName = "";
  #stopListening: (() => void) | undefined;
  #isClosed = false;
  #listens = true;

  /** @internal Use `connect`. */
  constructor(transport: Transport, options: ParleyOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#listen();
  }

  readonly #outbox = new ClientOutbox({
    conversationId: () => conversationIdOfRoom((this.#roomName = this.#transport.roomName || this.#roomName)),
    publish: (bytes, way) => {
      const to = this.#link.agents;
      if (to.length === 0) return Promise.reject(new AppError("unavailable", "No agent is in the room"));
      // Until LiveKit has announced us, the worker may not know who sent a packet. A stream names its sender.
      const send = way === "stream" || !this.#link.isKnown ? "sendStream" : "sendPacket";
      return this.#transport[send](bytes, to);
    },
  });

  readonly #progress = new ProgressSender((body) => this.#post({ type: "tool_use_progress", body }));

  readonly #requests = new ToolRequests({
    findTool: (name) => this.#tools.get(name),
    sendResult: (body, trace) => this.#outbox.send({ type: "tool_use_result", body }, "packet", trace).sizeBytes,
    acknowledge: (acknowledgedStanzaId, success) =>
      this.#post({ type: "acknowledgement", body: { acknowledgedStanzaId, success } }),
    progress: this.#progress,
    onCall: (call) => this.#events.emit("tool_call", call),
    onResult: (result) => this.#events.emit("tool_result", result),
  });

  readonly #link = new AgentLink({
    configure: (way, timeoutMs) => this.#configure(way, timeoutMs),
    onEnter: () => this.#incoming.noteLost(),
    onReady: (agents) => this.#events.emit("connected", { agents }),
    onLost: (reason) => {
      this.#outbox.unacknowledged.clear();
      this.#incoming.noteLost();
      this.#events.emit("disconnected", { reason });
    },
  });

  readonly #messages = new WorkerMessages({
    unacknowledged: this.#outbox.unacknowledged,
    requests: this.#requests,
    events: this.#events,
  });

  readonly #incoming = new IncomingMessages({
    onMessage: (...message) => this.#messages.handle(...message),
    onMalformedRequest: (error) => {
      if (this.#requests.refuse(error)) return;
      const body = toWireError(error, { id: createId(), originatingId: error.parts.id });
      this.#post({ type: "error_message", body });
    },
    onError: (error) => this.#reportError(error),
  });

  /** `true` while a worker knows us and our tools. */
  get isConnected(): boolean {
    return this.#link.isReady;
  }

  /** `true` while an answer is being given. */
  get isAnswering(): boolean {
    return this.#messages.isAnswering;
  }

  /** How many calls this client runs now. */
  get runningToolCount(): number {
    return this.#requests.runningCount;
  }

  /**
   * Offers a tool to the model, at once and after each reconnect. The returned function withdraws the tool; calls that
   * run go on.
   *
   * @throws {TypeError} when 64 tools or one of this name are registered, or a field of the tool cannot be used
   * @example
   * parley.registerTool({
   *   name: "set_theme",
   *   description: "Switches the page between light and dark.",
   *   input: z.object({ theme: z.enum(["light", "dark"]) }),
   *   run: ({ theme }) => { document.body.dataset.theme = theme; },
   * });
   */
  registerTool<Input = JsonObject>(tool: ClientTool<Input>): () => void {
    this.#throwIfClosed();
    const compiled = compileTool(tool);
    if (this.#tools.size >= MESSAGE_LIMITS.announcedTools)
      throw new TypeError(`More than ${MESSAGE_LIMITS.announcedTools} tools are registered`);
    if (this.#tools.has(tool.name)) throw new TypeError(`A tool named "${tool.name}" is registered already`);
    this.#tools.set(tool.name, compiled);
    this.#link.change();
    return () => {
      if (this.#isClosed || this.#tools.get(tool.name) !== compiled) return;
      this.#tools.delete(tool.name);
      this.#link.change();
    };
  }

  /**
   * Says something to the assistant. Waits for a worker if there is none, and repeats what is not acknowledged. With
   * attachments, `acknowledged` rejects with `too_large` when all is over 4 MiB.
   *
   * @throws {TypeError} when the text is blank, and nothing is attached; for an option that does not exist
   */
  sendText(text: string, options: SendTextOptions = {}): SentText {
    this.#throwIfClosed();
    refuseUnknownFields(options, ["traceparent", "attachments"], "sendText's options");
    const { traceparent, attachments = [] } = options;
    if (text.trim() === "" && attachments.length === 0) throw new TypeError("sendText: expected some text");
    const messageId = createId();
    const send = (more: Partial<MessageBody<"user_message">>) =>
      this.#deliver({ type: "user_message", body: { id: messageId, content: text, ...more } }, traceparent);
    const acknowledged =
      attachments.length === 0 ? send({}) : readAttachments(attachments).then((read) => send({ attachments: read }));
    acknowledged.catch(() => {});
    return { messageId, acknowledged };
  }

  /**
   * Sends a text and waits for the whole answer.
   *
   * @throws {AppError} when the turn failed, or no whole answer came in time; the signal's reason when it aborts
   */
  async ask(text: string, options: AskOptions = {}): Promise<WholeAnswer> {
    const { signal, timeoutMs, ...sent } = options;
    return ask(
      text,
      { signal, timeoutMs },
      {
        on: (event, handler) => this.on(event, handler),
        sendText: (content) => this.sendText(content, sent),
        stop: () => this.stop(),
      },
    );
  }

  /** Ends the answer that is being given, and its tool calls; with `stopType: "speech"` its sound alone. */
  stop(options: MessageBody<"control_stop"> = {}): void {
    if (this.#link.agents.length > 0) this.#post({ type: "control_stop", body: options });
  }

  /**
   * Cancels one tool call, whoever runs it. The model is told, and the answer goes on. Resolves when the worker has
   * done so. A call that has already ended is not changed.
   *
   * @param callId the `id` of a `tool_state`, a `tool_call` or a `tool_result`
   * @throws {AppError} the worker's error, as for an id that it does not know; `unavailable` when no worker acknowledged
   *   it within 60 s, or on `close`
   */
  async cancelCall(callId: string): Promise<void> {
    const refused = Promise.withResolvers<never>();
    const off = this.on("error", ({ code, message, originatingId }) => {
      if (originatingId === callId) refused.reject(toError(code, message));
    });
    const delivered = this.#deliver({ type: "control_stop", body: { targetId: callId } });
    await Promise.race([delivered, refused.promise]).finally(off);
  }

  /**
   * Tells the worker whether this client plays the agent's sound; until then the worker assumes that it does. While
   * nobody in the room plays it, answers are not spoken and their sentences arrive at once. The application itself
   * plays or mutes the sound.
   */
  listen(listens: boolean): void {
    this.#listens = listens;
    this.#link.change();
  }

  /**
   * Has a message of this talk answered anew, as it is (`regenerate`) or with other words (`edit`), or its answer gone on
   * with (`continue`). The new answer comes as any other. Resolves when the worker has taken it.
   *
   * @throws {AppError} `unavailable` when no worker acknowledged it within 60 s, or on `close`
   */
  async vary(variation: MessageBody<"control_variation">): Promise<void> {
    await this.#deliver({ type: "control_variation", body: variation });
  }

  /**
   * Answers a `permission_request`. Resolves when the worker has the answer. One that does not count (another came
   * first, or the permission has expired) comes back as the event `error` with the permission's id as `originatingId`.
   *
   * @throws {AppError} `unavailable` when no worker acknowledged it within 60 s, or on `close`
   */
  async respondToPermission<Answer extends PermissionAnswer>(
    permissionId: string,
    response: Answer,
    options?: PermissionOptions<Answer>,
  ): Promise<void> {
    const body = toPermissionResponse(permissionId, response, options);
    await this.#deliver({ type: "permission_response", body });
  }

  /**
   * Calls `handler` for each such event, in order. The returned function ends the subscription.
   *
   * @throws {TypeError} for an event that does not exist
   */
  on<Name extends keyof ParleyEvents>(event: Name, handler: (value: ParleyEvents[Name]) => void): () => void {
    return this.#events.on(event, handler);
  }

  /** Resolves when a worker knows us. @throws {AppError} `unavailable` after `timeoutMs`, or on `close` */
  async whenConnected(timeoutMs: number): Promise<void> {
    await this.#link.whenReady(timeoutMs);
  }

  /** Goes on with another room object for the same room. Tools, open calls and stanza numbers stay. */
  rejoin(room: LiveKitRoom | Transport): void {
    this.#throwIfClosed();
    this.#stopListening?.();
    this.#link.leave();
    this.#transport = toTransport(room);
    this.#listen();
  }

  /** Aborts running calls, withdraws our tools and stops listening; does not leave the room. May be called twice. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#requests.close();
    this.#tools.clear();
    if (this.#link.agents.length > 0) {
      this.#post({ type: "configuration", body: this.#configuration() });
      await this.#outbox.drain(CLOSE_MS);
    }
    this.#link.close();
    this.#outbox.unacknowledged.clear();
    this.#progress.close();
    this.#incoming.close();
    this.#stopListening?.();
    this.#events.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #listen(): void {
    this.#stopListening = this.#transport.listen({
      onPacket: (bytes, from) => {
        if (from?.isAgent) this.#incoming.handle(bytes, from.identity);
        else if (!from && this.#link.agents.length === 0) this.#incoming.miss(bytes);
      },
      onJoined: (peer) => this.#link.see(peer),
      onChanged: (peer) => this.#link.see(peer),
      onLeft: (peer) => this.#link.remove(peer),
      onConnected: () => this.#link.enter(this.#transport.peers),
      onDisconnected: () => this.#link.leave(),
    });
    if (this.#transport.isConnected) this.#link.enter(this.#transport.peers);
  }

  async #configure(way: "packet" | "stream", timeoutMs: number): Promise<boolean> {
    const { stanzaId } = this.#outbox.send({ type: "configuration", body: this.#configuration() }, way);
    const isTaken = await this.#outbox.unacknowledged.wait(stanzaId, timeoutMs);
    if (isTaken) this.#incoming.noteTold();
    return isTaken;
  }

  #configuration(): MessageBody<"configuration"> {
    const lastSequenceSeen = this.#incoming.tellLastSeen();
    const tools = [...this.#tools.values()].map(({ announcement }) => announcement);
    return toConfiguration(this.#options, { lastSequenceSeen, listens: this.#listens, tools });
  }

  async #deliver(message: Message, traceparent?: string): Promise<void> {
    this.#throwIfClosed();
    const until = Date.now() + DELIVER_WITHIN_MS;
    for (let left = DELIVER_WITHIN_MS; left > 0; left = until - Date.now()) {
      await this.#link.whenReady(left);
      const { stanzaId } = this.#outbox.send(message, "packet", traceparent);
      if (await this.#outbox.unacknowledged.wait(stanzaId, left)) return;
    }
    throw new AppError("unavailable", `The worker did not acknowledge within ${DELIVER_WITHIN_MS / 1000} s`);
  }

  #post(message: Message): void {
    this.#outbox.send(message).sent.catch((error: unknown) => {
      if (error instanceof AppError && error.code !== "unavailable") this.#reportError(error);
    });
  }

  #reportError(error: AppError): void {
    this.#events.emit("error", { code: ERROR_CODES[error.code].wire, message: error.message, error });
  }

  #onHandlerThrew(cause: unknown, event: keyof ParleyEvents): void {
    if (event !== "error") this.#reportError(new AppError("internal", `A handler of "${event}" threw`, { cause }));
  }

  #throwIfClosed(): void {
    if (this.#isClosed) throw new AppError("invalid_state", "The client was closed");
  }
}
