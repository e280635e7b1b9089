// Our types use AsyncDisposable, which may be missing from the `lib` that a page's tsconfig.json sets.
/// <reference lib="esnext.disposable" preserve="true" />
import { AppError, ERROR_CODES } from "../errors/app-error.ts";
import { createId } from "../lib/id.ts";
import type { JsonObject } from "../lib/json.ts";
import { refuseUnknownFields } from "../lib/checks/did-you-mean.ts";
import { conversationIdOfRoom } from "../protocol/conversation-id.ts";
import { MESSAGE_LIMITS } from "../protocol/limits.ts";
import type { Message, MessageBody } from "../protocol/messages/messages.ts";
import { toWireError } from "../protocol/wire-error.ts";
import { AgentLink, callAgent } from "./room/agent-link.ts";
import { type Attachment, readAttachments } from "./attachment.ts";
import { ask, ASK_OPTIONS, toError, type AskOptions, type WholeAnswer } from "./ask.ts";
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
  /** Makes the turn part of this trace (W3C Trace Context). */
  readonly traceparent?: string;
  /** Files that the model receives with the message. @defaultValue none */
  readonly attachments?: readonly Attachment[];
}

export interface SentText {
  /** The message's id. The answer contains it as `previousId`. */
  readonly messageId: string;
  /**
   * Resolves when the worker has stored the message. Rejects with the worker's error if the worker refuses the message,
   * and with `unavailable` after 60 s, or on `close`. Need not be awaited.
   */
  readonly acknowledged: Promise<void>;
}

/**
 * A client of a Parley worker in one room, created by `connect`. It never joins or leaves the room: the application
 * does. Tools and open calls survive a reconnect, including a `rejoin` with a new room object.
 */
export class Parley implements AsyncDisposable {
  readonly #options: ParleyOptions;
  readonly #tools = new Map<string, CompiledTool>();
  readonly #events = new Emitter<ParleyEvents>(EVENTS, (error, event) => this.#onHandlerThrew(error, event));
  #transport: Transport;
  /**
   * The room's last known name. Stored because a room object has no name until it is connected; after a `rejoin`, the
   * new object stands for the same room.
   */
  #roomName = "";
  #stopListening: (() => void) | undefined;
  #isClosed = false;
  #listens: boolean;

  /** @internal Use `connect`. */
  constructor(transport: Transport, options: ParleyOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#listens = options.listens ?? true;
    this.#listen();
  }

  readonly #outbox = new ClientOutbox({
    conversationId: () => conversationIdOfRoom((this.#roomName = this.#transport.roomName || this.#roomName)),
    publish: (bytes, way) => {
      const to = this.#link.agents;
      if (to.length === 0) return Promise.reject(new AppError("unavailable", "No agent is in the room"));
      // The worker cannot tell who sent a packet until LiveKit has announced us. A stream always identifies its sender.
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
    onEnter: () => this.#incoming.handleLost(),
    onReady: (agents) => this.#events.emit("connected", { agents }),
    onLost: (reason) => {
      this.#outbox.unacknowledged.clear();
      this.#incoming.handleLost();
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

  /** Whether a worker has acknowledged this client and its tools. */
  get isConnected(): boolean {
    return this.#link.isReady;
  }

  /** Whether an answer is in progress. */
  get isAnswering(): boolean {
    return this.#messages.isAnswering;
  }

  /** The number of calls currently running in this client. */
  get runningToolCount(): number {
    return this.#requests.runningCount;
  }

  /**
   * Offers a tool to the model, now and after each reconnect. Returns a function that withdraws the tool. Calls in
   * progress continue.
   *
   * @throws {TypeError} when 64 tools or a tool of this name are already registered, or a field of the tool is invalid
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
    if (this.#tools.has(tool.name)) throw new TypeError(`A tool named "${tool.name}" is already registered`);
    this.#tools.set(tool.name, compiled);
    this.#link.change();
    return () => {
      if (this.#isClosed || this.#tools.get(tool.name) !== compiled) return;
      this.#tools.delete(tool.name);
      this.#link.change();
    };
  }

  /**
   * Sends a message to the agent. Waits for a worker if there is none, and resends until acknowledged. `acknowledged`
   * rejects with `too_large` if text and attachments exceed 4 MiB in total.
   *
   * @throws {TypeError} for a blank text without attachments, or an unknown option
   */
  sendText(text: string, options: SendTextOptions = {}): SentText {
    this.#throwIfClosed();
    refuseUnknownFields(options, ["traceparent", "attachments"], "sendText's options");
    const { traceparent, attachments = [] } = options;
    if (text.trim() === "" && attachments.length === 0) throw new TypeError("sendText: expected some text");
    const messageId = createId();
    const send = (more: Partial<MessageBody<"user_message">>) =>
      this.#request(messageId, { type: "user_message", body: { id: messageId, content: text, ...more } }, traceparent);
    const acknowledged =
      attachments.length === 0 ? send({}) : readAttachments(attachments).then((read) => send({ attachments: read }));
    acknowledged.catch(() => {});
    return { messageId, acknowledged };
  }

  /**
   * Sends a message and waits for the complete answer.
   *
   * @throws {AppError} when the turn failed or the answer was not complete in time; the signal's reason when it aborts
   */
  async ask(text: string, options: AskOptions = {}): Promise<WholeAnswer> {
    refuseUnknownFields(options, ASK_OPTIONS, "ask's options");
    const { signal, timeoutMs, ...sent } = options;
    const parley = {
      on: this.on.bind(this),
      sendText: (content: string) => this.sendText(content, sent),
      stop: () => this.stop(),
    };
    return ask(text, { signal, timeoutMs }, parley);
  }

  /**
   * Begins to speak, as with a push-to-talk button: from now on, the agent hears this client's microphone. For agents
   * with `voice.turns: "manual"`, which otherwise hear nothing.
   *
   * @throws {AppError} `unavailable` without an agent; `invalid_state` if another participant is speaking, or if the
   *   agent decides itself when turns start
   */
  readonly startTurn = (): Promise<void> => callAgent("start_turn", this.#transport, this.#link);

  /** Ends what was begun by `startTurn`. The agent answers. @throws {AppError} as `startTurn` does */
  readonly endTurn = (): Promise<void> => callAgent("end_turn", this.#transport, this.#link);

  /** Ends what was begun by `startTurn`, and keeps nothing of it. @throws {AppError} as `startTurn` does */
  readonly cancelTurn = (): Promise<void> => callAgent("cancel_turn", this.#transport, this.#link);

  /** Stops the current answer and its tool calls. With `stopType: "speech"`, stops only the speech. */
  stop(options: MessageBody<"control_stop"> = {}): void {
    if (this.#link.agents.length > 0) this.#post({ type: "control_stop", body: options });
  }

  /**
   * Cancels one tool call, wherever it runs. The model is notified, and the answer continues. Resolves when the worker
   * has canceled the call. Does nothing to a call that has already ended.
   *
   * @param callId the `id` of a `tool_state`, `tool_call` or `tool_result`
   * @throws {AppError} the worker's error, for example for an unknown id; `unavailable` when no worker acknowledged
   *   within 60 s, or on `close`
   */
  async cancelCall(callId: string): Promise<void> {
    await this.#request(callId, { type: "control_stop", body: { targetId: callId } });
  }

  /**
   * Tells the worker whether this client plays the agent's audio, as the option `listens` of `connect` does from the
   * start. While nobody in the room plays it, answers are not spoken and their sentences arrive immediately. The
   * application itself plays or mutes the audio.
   */
  listen(listens: boolean): void {
    this.#listens = listens;
    this.#link.change();
  }

  /**
   * Regenerates the answer to a message (`regenerate`), replaces the message and answers it again (`edit`), or
   * continues its answer (`continue`). The new answer arrives like any other. Resolves when the worker has accepted the
   * request. If the message is still being answered, the request waits, and a later refusal is reported as an `error`
   * event.
   *
   * @throws {AppError} the worker's error, for example for an unknown message; `unavailable` when no worker
   *   acknowledged within 60 s, or on `close`
   */
  async vary(variation: MessageBody<"control_variation">): Promise<void> {
    await this.#request(variation.targetId, { type: "control_variation", body: variation });
  }

  /**
   * Answers a `permission_request`. Resolves when the worker has accepted the answer.
   *
   * @throws {AppError} the worker's error when the answer is not accepted, for example because someone else answered
   *   first, the request has expired, or the tool does not accept the edited arguments; `unavailable` when no worker
   *   acknowledged within 60 s, or on `close`
   */
  async respondToPermission<Answer extends PermissionAnswer>(
    permissionId: string,
    response: Answer,
    options?: PermissionOptions<Answer>,
  ): Promise<void> {
    const body = toPermissionResponse(permissionId, response, options);
    await this.#request(permissionId, { type: "permission_response", body });
  }

  /**
   * Calls `handler` for each event of this name, in order. Returns a function that ends the subscription.
   *
   * @throws {TypeError} for an unknown event
   */
  on<Name extends keyof ParleyEvents>(event: Name, handler: (value: ParleyEvents[Name]) => void): () => void {
    return this.#events.on(event, handler);
  }

  /** Resolves when a worker has acknowledged us. @throws {AppError} `unavailable` after `timeoutMs`, or on `close` */
  async whenConnected(timeoutMs: number): Promise<void> {
    await this.#link.whenReady(timeoutMs);
  }

  /** Continues with a new room object for the same room. Keeps tools, open calls and stanza numbers. */
  rejoin(room: LiveKitRoom | Transport): void {
    this.#throwIfClosed();
    this.#stopListening?.();
    this.#link.leave();
    this.#transport = toTransport(room);
    this.#listen();
  }

  /** Aborts running calls, withdraws our tools and stops listening. Does not leave the room. Idempotent. */
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
        else if (!from && this.#link.agents.length === 0) this.#incoming.handleUnknownSender(bytes);
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
    if (isTaken) this.#incoming.handleAcknowledged();
    return isTaken;
  }

  #configuration(): MessageBody<"configuration"> {
    const lastSequenceSeen = this.#incoming.resendAfter();
    const tools = [...this.#tools.values()].map(({ announcement }) => announcement);
    return toConfiguration(this.#options, { lastSequenceSeen, listens: this.#listens, tools });
  }

  /**
   * Delivers a message that the worker may refuse. To refuse, the worker sends an error with this `id` before its Ack;
   * the promise then rejects with that error.
   */
  async #request(id: string, message: Message, traceparent?: string): Promise<void> {
    const refused = Promise.withResolvers<never>();
    const off = this.on("error", ({ code, message: why, originatingId }) => {
      if (originatingId === id) refused.reject(toError(code, why));
    });
    await Promise.race([this.#deliver(message, traceparent), refused.promise]).finally(off);
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
    if (event !== "error") this.#reportError(new AppError("internal", `A handler for "${event}" threw`, { cause }));
  }

  #throwIfClosed(): void {
    if (this.#isClosed) throw new AppError("invalid_state", "The client was closed");
  }
}
