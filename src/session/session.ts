import { Initiative } from "./agent/initiative.ts";
import { SessionCalls } from "./calls/session-calls.ts";
import { createBlockEvents } from "./events/block-events.ts";
import { type SessionEvent, type SessionWatcher, notifyWatchers } from "./events/session-event.ts";
import { Admission } from "./inbox/admission.ts";
import { handleStop } from "./inbox/handle-stop.ts";
import { handlePacket, type MessageHandlers } from "./inbox/inbox.ts";
import { storeCommentary } from "./inbox/store-commentary.ts";
import { WordedForms } from "./forms/worded-forms.ts";
import { AnswerHook } from "./hooks/answer-hook.ts";
import { UserTurnHook } from "./hooks/user-turn-hook.ts";
import { UserMessages } from "./user-messages.ts";
import { Configurations } from "./participants/configurations.ts";
import type { ParticipantState } from "./participants/participant-state.ts";
import { Participants } from "./participants/participants.ts";
import { PermissionDesk } from "./permission/permission-desk.ts";
import { SessionMedia } from "./record/session-media.ts";
import type { Restored } from "./restore/restore.ts";
import { speakOnlyToListeners } from "./participants/speak-only-to-listeners.ts";
import type { RoomInput, RoomParticipant } from "./room/room-input.ts";
import type { SessionCore } from "./session-core.ts";
import type { SessionOptions } from "./session-options.ts";
import { SessionTelemetry } from "./telemetry/session-telemetry.ts";
import type { NewTurn } from "./turns/turn-queue.ts";
import { SessionTurns } from "./session-turns.ts";

/**
 * The session of one room. It receives messages, runs turns one after another, and sends answers and tool calls. All
 * participants share one history and one queue of turns; each tool call is sent to one participant. Nothing that a
 * participant sends can end the session.
 */
export class Session {
  readonly #core: SessionCore;
  readonly #initiative: Initiative | undefined;
  readonly #watchers: readonly SessionWatcher[];
  readonly #messages: UserMessages;
  readonly #participants = new Participants();
  readonly #admission: Admission;
  readonly #configurations: Configurations;
  readonly #permissions: PermissionDesk;
  readonly #calls: SessionCalls;
  readonly #turns: SessionTurns;
  readonly #unfollowTools: () => void;

  constructor(options: SessionOptions) {
    const { policy, agents, openStream, countTokens, summaryModel, restored, spending, memories, callEnd } = options;
    const { onLanguageDropped = () => {} } = options;
    const participants = this.#participants;
    const core = createCore(options, participants, (event) => this.#emit(event));
    this.#core = core;
    if (agents) agents.languageOf = (identity) => participants.get(identity)?.language;
    this.#configurations = new Configurations({
      ...core,
      liveTools: options.liveTools,
      ...(agents && { agent: () => agents.current }),
      onLanguageDropped,
    });
    this.#unfollowTools = this.#configurations.follow();
    this.#permissions = new PermissionDesk({ ...core, policy: policy.permission, store: options.permissionStore });
    const media = new SessionMedia(core);
    const forms = new WordedForms(core);
    const worded = [this.#permissions, forms];
    this.#calls = new SessionCalls({
      ...core,
      agents,
      permissions: this.#permissions,
      forms,
      storeMedia: (call, kept) => media.storeResult(call, kept),
      onLateOutcome: (outcome) => this.#turns.addOutcome(outcome),
    });
    this.#turns = new SessionTurns({
      ...core,
      restored,
      agents,
      openStream,
      countTokens,
      media,
      summaryModel,
      calls: this.#calls,
      worded,
      configurations: this.#configurations,
      userTurns: new UserTurnHook({ ...core, agents, memories }),
      answers: new AnswerHook({ ...core, agents }),
      spending,
    });
    const asking = [this.#calls.wire, this.#permissions];
    this.#admission = new Admission({ ...core, asking, worded });
    this.#messages = new UserMessages({
      ...core,
      messageIds: restored.messageIds,
      admission: this.#admission,
      worded,
      media,
      add: (turn, how) => this.#turns.add(turn, how),
      onQuestionAnswered: () => this.#turns.dropSpeculation(),
      onSaid: (identity) => this.#initiative?.handleUserActivity(identity),
    });
    const isPause = () => this.isAtPause && !this.#permissions.isAsking && !participants.isEmpty;
    const begin = (turn: NewTurn) => this.#turns.add(turn);
    this.#initiative = agents && new Initiative({ ...core, agents, callEnd, isPause, begin });
    this.#watchers = [
      createBlockEvents(core),
      ...options.watchers,
      this.#calls.watchPermissions,
      (event) => this.#initiative?.watch(event),
    ];
  }

  /** Handles an event from the room. Never throws. */
  handle(input: RoomInput): void {
    switch (input.type) {
      case "joined":
        return void this.#join(input.participant);
      case "left":
        this.#participants.leave(input.identity);
        this.#initiative?.handleLeft(input.identity);
        return this.#calls.handlePresence(input.identity, "left");
      case "packet":
        return this.#handlePacket(this.#join(input.from), input.bytes);
      case "chat_opened":
        return this.#admission.checkTextStream(this.#participants.get(input.identity), input.refuse);
      case "chat":
        return this.#messages.receive(this.#participants.join(input.from).state, { id: input.id, content: input.text });
      case "transcript":
        if (input.isFinal) void this.#turns.speculate(input.from.identity, input.transcript.text);
        return this.#messages.showTranscript(input.from.identity, input.transcript);
      case "utterance": {
        const { id, text: content, spoken, isMixed } = input.transcript;
        return this.#messages.receive(
          this.#participants.join(input.from).state,
          { id, content, via: "voice", spoken, ...(isMixed && { isMixed }) },
          input.transcript,
        );
      }
      case "unclear":
        return this.#admission.unclear(input.candidates, input.bytes);
      case "stream_refused": {
        const participant = this.#participants.get(input.identity);
        return participant && this.#admission.stream(participant);
      }
      case "dropped":
        return this.#admission.drop(input.reason);
      case "disconnected":
    }
  }

  /** Resumes what an earlier worker left unfinished. Call this once, before any new turn. */
  resume({ unfinished, waiting, promised, forms }: Omit<Restored, keyof SessionOptions["restored"]>): void {
    this.#calls.forms.keep(forms);
    const messageId = unfinished?.turn.parentMessageId;
    if (typeof messageId === "string") this.#messages.markHandled(messageId);
    if (unfinished) this.#turns.resume(unfinished);
    for (const message of waiting) this.#messages.add(message, { isInherited: true });
    for (const call of promised) void this.#configurations.whenKnown(call, () => this.#calls.resumePromised(call));
  }

  /** Whether no turn and no tool is running, so that ending the session would cut nothing off. */
  get isAtPause(): boolean {
    return this.#turns.isIdle && !this.#calls.isAnyRunning;
  }

  /** Starts no more turns. New messages are stored for the next worker. */
  hold(): void {
    this.#turns.hold();
  }

  setLanguage(identity: string, language: string): void {
    this.#participants.setLanguage(identity, language);
  }

  /** Replaces the turns that have ended with this summary in the context window. */
  replaceWithSummary(summary: string): void {
    this.#turns.replaceWithSummary(summary);
  }

  /**
   * Ends the session: lets the running turn finish for up to `graceMs`, cancels open calls, and stores what is pending.
   * Queued messages, and calls that wait for permission to start, are left to the next worker.
   */
  async close(graceMs: number): Promise<void> {
    this.#admission.close();
    this.#initiative?.close();
    this.#unfollowTools();
    await this.#turns.close(graceMs);
    await this.#calls.close();
    await this.#permissions.close();
    const { recorder, outbox, telemetry } = this.#core;
    await recorder.close();
    await outbox.drain();
    telemetry.close();
  }

  readonly #handlers: MessageHandlers = {
    user_message: (from, body, meta) => this.#messages.begin(from, body, meta),
    configuration: (from, body) => {
      this.#configurations.take(from, body);
      this.#calls.handlePresence(from.identity, "returned");
      this.#calls.showStates(from);
      this.#permissions.showAgain(from);
      this.#initiative?.handleReady(from.identity);
    },
    tool_use_result: (from, body, meta) => this.#calls.wire.handleResult(from, body, meta),
    onUnreadableResult: (from, callId, error) => this.#calls.wire.handleUnreadableResult(from, callId, error),
    acknowledgement: (from, body) => this.#calls.wire.handleAcknowledgement(from, body),
    error_message: (from, body) => this.#calls.wire.handleError(from, body),
    permission_response: (from, body) => this.#permissions.handleResponse(from, body),
    tool_use_progress: (from, body) => this.#calls.wire.handleProgress(from, body),
    control_variation: (from, body, meta) => this.#turns.vary({ participant: from.identity, variation: body, meta }),
    commentary: (from, body) => storeCommentary(from, body, this.#core),
    control_stop: (from, body) => handleStop(from, body, { ...this.#core, turns: this.#turns, calls: this.#calls }),
  };

  #join(participant: RoomParticipant): ParticipantState {
    const { state, isNewJoin } = this.#participants.join(participant);
    if (isNewJoin) {
      this.#initiative?.handleJoined(state);
      this.#configurations.send(state);
      this.#calls.handlePresence(state.identity, "returned");
      this.#turns.speakOutcomes();
    }
    return state;
  }

  #handlePacket(participant: ParticipantState, bytes: Uint8Array): void {
    if (!this.#admission.packet(participant, bytes)) return;
    const onDropped = (reason: string, error?: unknown) => this.#admission.drop(reason, error);
    handlePacket(participant, bytes, { outbox: this.#core.outbox, handlers: this.#handlers, onDropped });
  }

  #emit(event: SessionEvent): void {
    // After these events, the turn may be waiting only for permissions, or only for its own participant's device.
    if (event.type === "permission_asked" || event.type === "tool_state") this.#turns.yieldIfBlocking();
    notifyWatchers(this.#watchers, event, this.#core.logger);
  }
}

function createCore(options: SessionOptions, participants: Participants, emit: SessionCore["emit"]): SessionCore {
  const {
    sessionId,
    room,
    roomSid = room,
    policy,
    serverTools,
    outbox,
    link,
    recorder,
    archive,
    state,
    logger,
  } = options;
  const { telemetry = new SessionTelemetry() } = options;
  const voice = options.voice && speakOnlyToListeners(options.voice, participants, logger);
  return {
    sessionId,
    room,
    roomSid,
    policy,
    serverTools,
    participants,
    outbox,
    link,
    voice,
    recorder,
    archive,
    state,
    telemetry,
    logger,
    emit,
  };
}
