import { type Logger } from "pino";
import { type TurnRecord } from "../conversation/turn-record.ts";
import { AppError } from "../errors/app-error.ts";
import { abortable } from "../lib/abortable.ts";
import { type MessageBody } from "../protocol/messages.ts";
import { type Call } from "../tool/call.ts";
import { CallLedger } from "../tool/call-ledger.ts";
import { type CallPorts, type CallTurn } from "../tool/call-ports.ts";
import { offeredTools } from "../tool/directory.ts";
import { type ModelAnswer } from "../tool/outcome.ts";
import { resumeCall } from "../tool/resume-call.ts";
import { refuseCall, runCall } from "../tool/run-call.ts";
import { type ServerTool } from "../tool/server-tool.ts";
import { type TurnDependencies } from "../turn/run-turn.ts";
import { compileAnnouncement } from "./announced-tools.ts";
import { CallWire } from "./call-wire.ts";
import { handlePacket, type MessageHandlers } from "./inbox.ts";
import { type OpenStream } from "./open-stream.ts";
import { type Outbox } from "./outbox.ts";
import { type Peer } from "./peer.ts";
import { Peers } from "./peers.ts";
import { type Recorder } from "./recorder.ts";
import { type RoomLink, type RoomListener, type RoomParticipant } from "./room-link.ts";
import { runSessionTurn } from "./run-session-turn.ts";
import { TurnQueue, type TurnInput, type UnfinishedTurn } from "./turn-queue.ts";

const ANNOUNCE_AGAIN_MS = 1_000;

/** What a session is told to do, from the config. */
export interface SessionPolicy {
  readonly model: string;
  readonly maxSteps: number;
  readonly toolTimeoutMs: number;
  readonly toolResultMaxBytes: number;
  readonly onNewMessage: "queue" | "interrupt";
}

export interface SessionOptions {
  readonly room: string;
  readonly policy: SessionPolicy;
  readonly serverTools: ReadonlyMap<string, ServerTool>;
  readonly openStream: OpenStream;
  readonly outbox: Outbox;
  readonly recorder: Recorder;
  readonly link: Pick<RoomLink, "openTranscription">;
  /** Turns of earlier times, all ended. */
  readonly past: readonly TurnRecord[];
  readonly logger: Logger;
}

/**
 * The talk in one room: messages in, turns one after another, answers and tool calls out. Its participants share one
 * history and one queue of turns; each call goes to one of them. Nothing that a participant sends ends it.
 */
export class Session implements Omit<RoomListener, "onDisconnected"> {
  readonly #options: SessionOptions;
  readonly #peers = new Peers();
  readonly #past: TurnRecord[];
  readonly #messageIds: Set<string>;
  readonly #queue = new TurnQueue((input, signal) => this.#runTurn(input, signal));
  readonly #ledger: CallLedger;
  readonly #wire: CallWire;
  #onConfigured: (peer: Peer) => void = () => {};

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#past = [...options.past];
    this.#messageIds = new Set(options.past.flatMap(({ parentMessageId }) => parentMessageId ?? []));
    this.#wire = new CallWire(options.outbox, this.#peers);
    this.#ledger = new CallLedger({
      onOpened: (call) => options.recorder.onOpened(call),
      onChanged: (call) => options.recorder.onChanged(call),
      onSettled: (call) => this.#onSettled(call),
      onExtraAnswer: (callId, answer) => options.recorder.onExtraAnswer(callId, answer),
    });
  }

  onJoined(participant: RoomParticipant): void {
    const { peer, isNewJoin } = this.#peers.join(participant);
    if (!isNewJoin) return;
    this.#sendConfiguration(peer);
    this.#ledger.signalAll(peer.identity, "returned");
  }

  onLeft(identity: string): void {
    this.#peers.leave(identity);
    this.#ledger.signalAll(identity, "left");
  }

  onPacket(from: RoomParticipant, bytes: Uint8Array): void {
    const { peer, isNewJoin } = this.#peers.join(from);
    if (isNewJoin) this.#ledger.signalAll(peer.identity, "returned");
    const { outbox } = this.#options;
    handlePacket(peer, bytes, {
      outbox,
      handlers: this.#handlers,
      onDropped: (reason, error) => this.onDropped(reason, error),
    });
  }

  onChat(from: RoomParticipant, { id, text }: { readonly id: string; readonly text: string }): void {
    this.#begin(this.#peers.join(from).peer, { id, content: text });
  }

  onDropped(reason: string, error?: unknown): void {
    this.#options.logger.warn({ reason, code: error instanceof AppError ? error.code : undefined }, "message dropped");
    if (reason === "handler_failed") this.#options.logger.error({ err: error }, "a message handler failed");
  }

  /** Takes up a turn that an earlier worker left running, before anything new. Call once, at the start. */
  resume(unfinished: UnfinishedTurn): void {
    if (unfinished.turn.parentMessageId !== null) this.#messageIds.add(unfinished.turn.parentMessageId);
    this.#queue.add(unfinished);
  }

  /** A new worker does not know its clients' tools yet: the one whose turn goes on gets a moment to name them again. */
  async #untilAnnounced({ participantIdentity }: TurnRecord, signal: AbortSignal): Promise<void> {
    const timeUp = AbortSignal.timeout(ANNOUNCE_AGAIN_MS);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onConfigured = ({ identity }) => identity === participantIdentity && resolve();
    await abortable(promise, AbortSignal.any([signal, timeUp])).catch(() => {});
    this.#onConfigured = () => {};
  }

  /** Ends the talk: the running turn has `graceMs` to end by itself, open calls are cancelled, the record is written. */
  async close(graceMs: number): Promise<void> {
    await this.#queue.close(graceMs);
    this.#wire.cancelAll(this.#ledger);
    await this.#options.recorder.close();
    await this.#options.outbox.drain();
  }

  readonly #handlers: MessageHandlers = {
    onUserMessage: (from, body) => this.#begin(from, body),
    onConfiguration: (from, body) => this.#configure(from, body),
    onToolUseResult: (from, body) => this.#wire.handleResult(from, body, this.#ledger),
    onUnreadableResult: (from, callId, error) =>
      this.#wire.handleUnreadableResult(from, { callId, error }, this.#ledger),
    onAcknowledgement: (from, body) => this.#wire.handleAcknowledgement(from, body, this.#ledger),
    onErrorMessage: (from, body) => this.#wire.handleError(from, body, this.#ledger),
    onToolUseProgress: (from, { id, log }) => {
      if (log !== undefined && this.#ledger.find(id)?.current.addressee === from.identity)
        this.#options.recorder.log(id, log);
    },
    onControlStop: (_from, { stopType = "generation" }) => {
      if (stopType !== "speech") this.#queue.abort("stopped");
    },
  };

  #begin(from: Peer, { id, content }: Pick<MessageBody<"user_message">, "id" | "content">): void {
    if (this.#messageIds.has(id)) return;
    if (content.trim() === "") throw new AppError("malformed", "user_message.content: expected some text");
    this.#messageIds.add(id);
    const isBlocked = this.#ledger.openCalls().some(({ current }) => current.onInterrupt === "block");
    if (this.#options.policy.onNewMessage === "interrupt" && !isBlocked) this.#queue.abort("interrupted");
    const isTaken = this.#queue.add({
      participant: from.identity,
      messageId: id,
      input: [{ type: "text", text: content }],
    });
    if (isTaken) return;
    this.#messageIds.delete(id);
    throw new AppError("queue_overflow", "Too many messages wait for an answer");
  }

  #configure(from: Peer, body: MessageBody<"configuration">): void {
    const { outbox } = this.#options;
    if (body.features) from.features = new Set(body.features);
    if (body.preferredLanguage !== undefined) from.language = body.preferredLanguage;
    if (body.tools) {
      const { tools, errors } = compileAnnouncement(body);
      from.tools = tools;
      for (const error of errors) outbox.postError(error, from.identity);
    }
    if (body.lastSequenceSeen !== undefined) {
      const { hasGap } = outbox.replay(body.lastSequenceSeen, from.identity);
      if (hasGap)
        outbox.postError(new AppError("invalid_state", "Some older messages are no longer held"), from.identity);
    }
    this.#sendConfiguration(from);
    this.#ledger.signalAll(from.identity, "returned");
    this.#onConfigured(from);
  }

  #sendConfiguration({ identity }: Peer): void {
    const names = [...this.#options.serverTools.values()].filter((tool) => tool.execution !== "client");
    const tools = names.map(({ name, description }) => ({ name, description, inputSchema: { type: "object" } }));
    const features = ["tool_use_cancel", "tool_use_progress"];
    this.#options.outbox.post({ type: "configuration", body: { features, tools } }, { to: [identity] });
  }

  async #runTurn(begin: TurnInput, signal: AbortSignal): Promise<void> {
    const { outbox, recorder, link, logger } = this.#options;
    const ports = {
      outbox,
      recorder,
      link,
      past: this.#past,
      language: this.#peers.get("turn" in begin ? begin.turn.participantIdentity : begin.participant)?.language,
      dependencies: (turn: CallTurn) => this.#turnDependencies(turn, "calls" in begin ? begin.calls : []),
      onEvent: () => {},
    };
    if ("turn" in begin) await this.#untilAnnounced(begin.turn, signal);
    const startedAt = performance.now();
    const turn = await runSessionTurn(begin, ports, signal);
    this.#past.push(turn);
    const ms = Math.round(performance.now() - startedAt);
    logger.info({ turnId: turn.id, state: turn.state, blocks: turn.blocks.length, ms }, "turn ended");
  }

  #turnDependencies(turn: CallTurn, storedCalls: readonly Call[]): Omit<TurnDependencies, "record"> {
    const { policy, serverTools, openStream } = this.#options;
    const ports = this.#callPorts();
    return {
      model: policy.model,
      maxSteps: policy.maxSteps,
      openStream: (request, signal) =>
        openStream({ ...request, tools: offeredTools(serverTools, ports.hosts(turn.participant)) }, signal),
      tools: {
        run: (use) => runCall(use, turn, ports),
        refuse: (use, why) => refuseCall(use, turn, { ports, why }),
        startsEarly: (name) => serverTools.get(name)?.readOnly ?? false,
      },
      resume: (use) => {
        const stored = storedCalls.find(({ toolUseId }) => toolUseId === use.toolUseId);
        return resumeCall(use, turn, { ports, stored });
      },
    };
  }

  #callPorts(): CallPorts {
    const { recorder, serverTools, room, policy } = this.#options;
    return {
      ledger: this.#ledger,
      serverTools,
      hosts: (first) => this.#peers.hosts(first),
      room,
      defaultTimeoutMs: policy.toolTimeoutMs,
      resultMaxBytes: policy.toolResultMaxBytes,
      durable: () => recorder.durable(),
      isPresent: (identity) => this.#peers.isPresent(identity),
      sendRequest: (call) => this.#wire.sendRequest(call),
      sendResult: (call) => this.#wire.sendResult(call),
      sendCancel: (call, reason) => this.#wire.sendCancel(call, reason),
      log: (callId, line) => recorder.log(callId, line),
      onLateOutcome: (call, answer) => this.#bringIn(call, answer),
    };
  }

  /** A call that outlived its turn has ended: the model hears of it in a turn of its own. */
  #bringIn(call: Call, answer: ModelAnswer): void {
    const how = answer.isError ? "failed" : "ended";
    const text = `[The tool ${call.toolName} (${call.toolUseId}), which was still running, has ${how}: ${answer.content}]`;
    this.#queue.add({ participant: call.participant, messageId: null, input: [{ type: "text", text }] });
  }

  #onSettled(call: Call): void {
    const { recorder, logger } = this.#options;
    recorder.onSettled(call);
    const ms =
      call.startedAt !== undefined && call.finishedAt !== undefined ? call.finishedAt - call.startedAt : undefined;
    const errorCode = call.outcome && "errorCode" in call.outcome ? call.outcome.errorCode : undefined;
    const { id: callId, turnId, toolName, state, executionResolved } = call;
    logger.info({ callId, turnId, toolName, state, executionResolved, errorCode, ms }, "call ended");
    this.#wire.forget(call);
  }
}
