import { type JsonObject } from "../lib/json.ts";
import { AppError } from "../errors/app-error.ts";
import { type MessageBody } from "../protocol/messages/messages.ts";
import { Admission } from "./inbox/admission.ts";
import { type AnsweredTurn } from "./answer/catch-up.ts";
import { createBlockEvents } from "./events/block-events.ts";
import { Configurations } from "./peers/configurations.ts";
import { handlePacket, type MessageHandlers } from "./inbox/inbox.ts";
import { PermissionDesk } from "./permission/permission-desk.ts";
import { type Peer } from "./peers/peer.ts";
import { Peers } from "./peers/peers.ts";
import { type RoomListener } from "./room/room-link.ts";
import { type RoomParticipant } from "./room/room-participant.ts";
import { SessionTelemetry } from "./telemetry/session-telemetry.ts";
import { keepCommentary } from "./inbox/keep-commentary.ts";
import { LateOutcomes } from "./turns/late-outcomes.ts";
import { prepareTurn } from "./turns/prepare-turn.ts";
import { type Restored } from "./restore/restore.ts";
import { runSessionTurn, type SessionTurnPorts } from "./turns/run-session-turn.ts";
import { SessionCalls } from "./calls/session-calls.ts";
import { type SessionEvent } from "./events/session-event.ts";
import { type SessionOptions, type Utterance } from "./session-options.ts";
import { toVariationTurn } from "./turns/variation.ts";
import { type AnswerOutput } from "./answer/answer-output.ts";
import { type Transcript, type VoiceListener } from "./room/voice-port.ts";
import { TurnQueue, type NewTurn, type TurnInput, type VariationRequest } from "./turns/turn-queue.ts";

/**
 * The talk in one room: messages in, turns one after another, answers and tool calls out. Its participants share one
 * history and one queue of turns; each call goes to one of them. Nothing that a participant sends ends it.
 */
export class Session implements Omit<RoomListener, "onDisconnected" | "onKeys">, VoiceListener {
  readonly #options: SessionOptions;
  readonly #peers = new Peers();
  readonly #telemetry: SessionTelemetry;
  #past: readonly AnsweredTurn[];
  readonly #messageIds: Set<string>;
  readonly #queue = new TurnQueue(
    (input, signal) => this.#run(input, signal),
    () => void this.#lateOutcomes.speak(),
  );
  readonly #lateOutcomes = new LateOutcomes({
    isPause: () => !this.#queue.isRunning && !this.#peers.isEmpty,
    untilQuiet: async (signal) => this.#options.voice?.untilQuiet(signal),
    begin: (turn) => this.#queue.add(turn),
  });
  readonly #desk: PermissionDesk;
  readonly #calls: SessionCalls;
  readonly #configurations: Configurations;
  readonly #admission: Admission;
  readonly #unfollowTools: () => void;
  /** What a ControlStop may name to mean the running turn. */
  #runningIds: readonly string[] = [];
  #answer: Pick<AnswerOutput, "silence"> | undefined;

  constructor(options: SessionOptions) {
    const { watchers, telemetry = new SessionTelemetry() } = options;
    this.#telemetry = telemetry;
    this.#options = { ...options, watchers: [createBlockEvents({ ...options, peers: this.#peers }), ...watchers] };
    this.#configurations = new Configurations({ ...options, peers: this.#peers });
    this.#unfollowTools = this.#configurations.follow();
    this.#past = options.past;
    this.#messageIds = new Set(options.past.flatMap(({ parentMessageId }) => parentMessageId ?? []));
    this.#desk = new PermissionDesk({
      ...options,
      store: options.permissionStore,
      policy: options.policy.permission,
      peers: this.#peers,
      tell: (event) => this.#tell(event),
    });
    this.#calls = new SessionCalls({
      ...options,
      telemetry,
      peers: this.#peers,
      permissions: this.#desk,
      onState: (call) => {
        options.voice?.setInterruptible(!this.#calls.isBlocking);
        this.#tell({ type: "tool_state", call });
      },
      onLateOutcome: (outcome) => this.#lateOutcomes.add(outcome),
    });
    this.#admission = new Admission({ ...options, telemetry, asking: [this.#calls, this.#desk] });
  }

  onJoined(participant: RoomParticipant): void {
    const { peer, isNewJoin } = this.#peers.join(participant);
    if (isNewJoin) this.#welcome(peer);
  }

  onLeft(identity: string): void {
    this.#peers.leave(identity);
    this.#calls.handlePresence(identity, "left");
  }

  onPacket(from: RoomParticipant, bytes: Uint8Array): void {
    const { peer, isNewJoin } = this.#peers.join(from);
    if (isNewJoin) this.#welcome(peer);
    if (!this.#admission.packet(peer, bytes)) return;
    const onDropped = this.onDropped.bind(this);
    handlePacket(peer, bytes, { outbox: this.#options.outbox, handlers: this.#handlers, onDropped });
  }

  onChat(from: RoomParticipant, { id, text }: { readonly id: string; readonly text: string }): void {
    const { peer } = this.#peers.join(from);
    if (!this.#admission.text(peer, text)) return;
    try {
      this.#begin(peer, { id, content: text });
    } catch (error) {
      this.#options.outbox.postError(error, peer.identity, id);
    }
  }

  onTranscript(_from: RoomParticipant, { id, text, language }: Transcript): void {
    const body = { id, text, final: false, ...(language !== undefined && { language }) };
    this.#options.outbox.post({ type: "transcription", body });
  }

  /** What was said is a message like a typed one, but that it never waits for the running answer to end. */
  onUtterance(from: RoomParticipant, { id, text, language }: Transcript): void {
    const { peer } = this.#peers.join(from);
    if (!this.#admission.text(peer, text)) return;
    const body = { id, text, final: true, ...(language !== undefined && { language }) };
    this.#options.outbox.post({ type: "transcription", body });
    try {
      this.#begin(peer, { id, content: text, via: "voice" });
    } catch (error) {
      this.#options.outbox.postError(error, peer.identity, id);
    }
  }

  onUnclear(candidates: readonly string[], bytes: Uint8Array): void {
    this.#admission.unclear(candidates, bytes);
  }

  onStreamRefused(identity: string): void {
    const peer = this.#peers.get(identity);
    if (peer) this.#admission.stream(peer);
  }

  onDropped(reason: string, error?: unknown): void {
    this.#admission.drop(reason, error);
  }

  /** Takes up what an earlier worker left: its turn before anything new. Call once, at the start. */
  resume({ unfinished, promised }: Pick<Restored, "unfinished" | "promised">): void {
    const messageId = unfinished?.turn.parentMessageId;
    if (typeof messageId === "string") this.#messageIds.add(messageId);
    if (unfinished) this.#queue.add(unfinished);
    for (const call of promised) void this.#configurations.whenKnown(call, () => this.#calls.keepPromise(call));
  }

  /**
   * Ends the talk: the running turn has `graceMs` to end by itself, open calls are cancelled, the record is written.
   * What only waits for leave to start is left as it is, for the next worker. Messages that waited for their turn are
   * refused: whoever sent them hears that they must be sent again.
   */
  async close(graceMs: number): Promise<void> {
    this.#lateOutcomes.close();
    this.#admission.close();
    this.#unfollowTools();
    for (const { from, id, why } of this.#queue.shut()) this.#options.outbox.postError(why, from, id);
    await this.#queue.close(graceMs, () => this.#calls.isOnlyWaitingToStart(this.#runningIds[0]));
    this.#calls.cancelAll();
    await this.#desk.close();
    await this.#options.recorder.close();
    await this.#options.outbox.drain();
    this.#telemetry.close();
  }

  readonly #handlers: MessageHandlers = {
    onUserMessage: (from, body, meta) => this.#begin(from, body, meta),
    onConfiguration: (from, body) => this.#configure(from, body),
    onToolUseResult: (from, body, meta) => this.#calls.handleResult(from, body, meta),
    onUnreadableResult: (from, callId, error) => this.#calls.handleUnreadableResult(from, callId, error),
    onAcknowledgement: (from, body) => this.#calls.handleAcknowledgement(from, body),
    onErrorMessage: (from, body) => this.#calls.handleError(from, body),
    onPermissionResponse: (from, body) => this.#desk.handleResponse(from, body),
    onToolUseProgress: (from, body) => this.#calls.handleProgress(from, body),
    onControlVariation: (from, body, meta) => this.#enqueue({ participant: from.identity, variation: body, meta }),
    onCommentary: (from, body) => keepCommentary(from, body, this.#options),
    onControlStop: (_from, { targetId, stopType = "generation" }) => {
      if (targetId !== undefined && !this.#runningIds.includes(targetId)) return;
      if (stopType === "speech") this.#answer?.silence();
      else this.#queue.abort("stopped");
    },
  };

  #welcome(peer: Peer): void {
    this.#configurations.send(peer);
    this.#calls.handlePresence(peer.identity, "returned");
    void this.#lateOutcomes.speak();
  }

  /** A yes or no to a question of the desk's is no message. */
  #begin(from: Peer, { id, content, via = "text" }: Utterance, meta: JsonObject = {}): void {
    if (this.#messageIds.has(id)) return;
    if (content.trim() === "") throw new AppError("malformed", "user_message.content: expected some text");
    if (!this.#desk.takeUtterance(from, content, via)) {
      if (via === "voice" && !this.#calls.isBlocking) this.#queue.abort("interrupted");
      this.#enqueue({ participant: from.identity, messageId: id, input: [{ type: "text", text: content }], meta });
    }
    this.#messageIds.add(id);
  }

  /** @throws {AppError} `queue_overflow`, `unavailable` */
  #enqueue(turn: NewTurn | VariationRequest): void {
    if (this.#options.policy.onNewMessage === "interrupt" && !this.#calls.isBlocking) this.#queue.abort("interrupted");
    this.#queue.add(turn);
    this.#talkOn();
  }

  /** A turn that only waits for a permission does not hold up what comes next; its calls wait on without it. */
  #talkOn(): void {
    if (this.#queue.hasWaiting && this.#calls.isOnlyWaiting(this.#runningIds[0])) this.#queue.abort("interrupted");
  }

  #configure(from: Peer, body: MessageBody<"configuration">): void {
    this.#configurations.take(from, body, this.#past);
    this.#calls.handlePresence(from.identity, "returned");
    this.#calls.showStates(from);
    this.#desk.showAgain(from);
  }

  async #run(input: TurnInput | VariationRequest, signal: AbortSignal): Promise<void> {
    if (!("variation" in input)) return this.#runTurn(input, signal);
    const { participant, variation, meta } = input;
    try {
      await this.#runTurn({ ...toVariationTurn(variation, participant, this.#past), meta }, signal);
    } catch (error) {
      this.#options.outbox.postError(error, participant, variation.targetId);
    }
  }

  async #runTurn(input: TurnInput, signal: AbortSignal): Promise<void> {
    const { logger, policy, openStream } = this.#options;
    const { observeChat, traceOfTurn } = this.#telemetry;
    const { begin, past } = prepareTurn(input, this.#past, this.#lateOutcomes);
    const participant = "turn" in begin ? begin.turn.participantIdentity : begin.participant;
    const ports: SessionTurnPorts = {
      ...this.#options,
      voice: this.#options.voice,
      past,
      nextPosition: (this.#past.at(-1)?.position ?? 0) + 1,
      onInterrupted: () => this.#queue.abort("interrupted"),
      onAnswer: (answer) => (this.#answer = answer),
      language: this.#peers.get(participant)?.language,
      phrases: policy.phrases,
      traceOfTurn,
      onAnswered: (turn) => this.#desk.sayAgain(participant, turn).finally(() => this.#calls.endTurn()),
      dependencies: (turn) => ({
        model: policy.model,
        maxSteps: policy.maxSteps,
        openStream: (request, aborted) =>
          openStream({ ...request, ...this.#calls.offer(participant), observe: observeChat }, aborted),
        ...this.#calls.toolsOf(turn, "turn" in begin ? begin.calls : []),
      }),
      onEvent: (turn, event) => {
        if (event.type === "turn_start") this.#runningIds = [turn.id, turn.messageId, turn.parentMessageId ?? ""];
        this.#tell({ type: "turn", turn, event });
      },
    };
    if ("turn" in begin) await this.#configurations.untilAnnounced(begin, signal);
    const startedAt = performance.now();
    await this.#telemetry.turn({ participant, meta: "turn" in begin ? undefined : begin.meta }, async () => {
      const turn = await runSessionTurn(begin, ports, signal);
      this.#runningIds = [];
      this.#answer = undefined;
      this.#past = [...past, turn];
      const ms = Math.round(performance.now() - startedAt);
      const { id: turnId, state, blocks, errorCode } = turn;
      logger.info({ turnId, state, errorCode, blocks: blocks.length, ms }, "turn ended");
      return turn;
    });
  }

  #tell(event: SessionEvent): void {
    const mayOnlyWait = event.type === "permission_asked" || (event.type === "tool_state" && event.call.outcome);
    if (mayOnlyWait) this.#talkOn();
    for (const watch of this.#options.watchers) {
      try {
        watch(event);
      } catch (error) {
        this.#options.logger.error({ error }, "a watcher failed");
      }
    }
  }
}
