import { DEFAULT_AGENT } from "../../agent/load-agents.ts";
import type { Call } from "../../conversation/call.ts";
import { callErrorType } from "../../telemetry/labels.ts";
import { CallLedger, type LedgerListener, type OpenCall } from "../../tool/calls/call-ledger.ts";
import type { CallPorts, CallRecord, CallTurn } from "../../tool/calls/call-ports.ts";
import { isReceipt, type ModelAnswer } from "../../tool/outcome.ts";
import { cancelOne } from "../../tool/calls/end-call.ts";
import { CallRunner } from "../../tool/calls/call-runner.ts";
import { DEFAULT_PACING, type Pacing } from "../../tool/pacing.ts";
import type { TurnDependencies } from "../../turn/run-turn.ts";
import type { SessionAgents } from "../agent/session-agents.ts";
import { CallWire } from "./call-wire.ts";
import { Fillers } from "./fillers.ts";
import type { LateOutcome } from "../turns/outcome-turn.ts";
import type { Offer } from "../model/open-stream.ts";
import type { ParticipantState } from "../participants/participant-state.ts";
import type { PermissionDesk } from "../permission/permission-desk.ts";
import { ToolOffer } from "./tool-offer.ts";
import { ProgressGate, ToolStates } from "./tool-states.ts";
import type { SessionEvent } from "../events/session-event.ts";
import type { WordedForms } from "../forms/worded-forms.ts";
import { isBlocking, isOnlyWaiting, protectsTurn, yieldAfterMs } from "./open-calls.ts";
import { SessionForms } from "./session-forms.ts";
import { untilMayStart } from "./until-may-start.ts";
import { CallChanges } from "../state/call-changes.ts";
import type { SessionCore } from "../session-core.ts";

interface SessionCallsOptions extends Omit<SessionCore, "link" | "archive"> {
  readonly storeMedia: CallRecord["storeMedia"];
  /** @defaultValue one agent, in a room whose participants have no attributes */
  readonly agents?: Pick<SessionAgents, "describeFor"> | undefined;
  readonly permissions: Pick<PermissionDesk, "permit" | "permitRunning" | "denialOf" | "isAlwaysAllowed" | "withdraw">;
  readonly forms: Pick<WordedForms, "ask">;
  /** Called with the outcome of a call that its turn did not wait for. */
  readonly onLateOutcome: (outcome: LateOutcome) => void;
}

/** Runs the tool calls of a session's turns, and handles what participants send about them. */
export class SessionCalls {
  readonly forms: SessionForms;
  /** Handles the clients' messages about their calls. */
  readonly wire: CallWire;
  readonly #options: SessionCallsOptions;
  readonly #ledger: CallLedger;
  readonly #states: ToolStates;
  readonly #ports: CallPorts;
  readonly #runner: CallRunner;
  readonly #fillers: Fillers;
  readonly #offer: ToolOffer;
  readonly #changes: CallChanges;
  /** The turn whose answer is in progress. */
  #turn: CallTurn | undefined;
  #isTurnInterruptible = true;

  constructor(options: SessionCallsOptions) {
    const { serverTools, participants, policy, outbox, telemetry, storeMedia } = options;
    this.#options = options;
    this.#changes = new CallChanges(options);
    this.#states = new ToolStates(options);
    this.#fillers = new Fillers(serverTools);
    this.#offer = new ToolOffer(options);
    this.forms = new SessionForms({
      ports: () => this.#ports,
      worded: options.forms,
      waitMs: policy.permission.waitMs,
      turnOf: (call) => this.#turnOf(call),
    });
    this.#ledger = new CallLedger(this.#createListener(), serverTools);
    this.wire = new CallWire({ ledger: this.#ledger, outbox, participants, telemetry, storeMedia });
    this.#ports = this.#createPorts();
    this.#runner = new CallRunner(this.#ports);
  }

  /** Returns a listener that reports calls' changes to the recorder, the clients, the voice and the watchers. */
  #createListener(): LedgerListener {
    const { recorder, voice, telemetry, serverTools } = this.#options;
    const report = (call: Call) => {
      if (this.#mayShow(call)) this.#states.show(call);
      this.#fillers.handle(call, this.#turn);
      if (protectsTurn(call, this.#turn, serverTools)) this.#isTurnInterruptible = false;
      voice?.setInterruptible(!this.isBlocking);
      this.#options.emit({ type: "tool_state", call });
    };
    const gate = new ProgressGate((call) => {
      recorder.onProgress(call);
      report(call);
    });
    return {
      onOpened: (call) => {
        recorder.onOpened(call);
        report(call);
      },
      onChanged: (call) => {
        gate.flush(call.id);
        recorder.onChanged(call);
        report(call);
      },
      onBegun: (call) => this.#states.show(call),
      onProgress: (call) => gate.note(call),
      onSettled: (call) => {
        gate.flush(call.id);
        this.#onSettled(call);
        report(call);
      },
      onExtraAnswer: (callId, answer) => {
        recorder.onExtraAnswer(callId, answer);
        this.#states.showExtra(callId, answer);
        telemetry.recordExtraAnswer(callId, answer);
      },
    };
  }

  #createPorts(): CallPorts {
    const { room, roomSid, sessionId, serverTools, recorder, policy, permissions } = this.#options;
    const { voice, telemetry, logger, storeMedia, agents } = this.#options;
    return {
      ledger: this.#ledger,
      serverTools,
      settings: {
        room,
        roomSid,
        sessionId,
        defaultTimeoutMs: policy.toolTimeoutMs,
        resultMaxBytes: policy.toolResultMaxBytes,
        toolDetail: policy.toolDetail ?? {},
      },
      record: { durable: (callId) => recorder.durable(callId), storeMedia },
      state: this.#changes,
      clients: this.wire,
      questions: {
        permit: (call, need, turn) => permissions.permit(call, need, turn),
        permitRunning: (call, need) => permissions.permitRunning(call, need, this.#turnOf(call)),
        denialOf: (call, need) => permissions.denialOf(call, need),
        withdraw: (call) => permissions.withdraw(call),
        elicit: (...asked) => this.forms.elicit(...asked),
      },
      session: {
        describe: (identity) => agents?.describeFor(identity) ?? { agent: DEFAULT_AGENT, attributes: {} },
        untilMayStart: (call, turn) =>
          voice && untilMayStart(call, turn, { voice, startWhen: this.#pacingOf(call.current).startWhen }),
        traceOf: (callId) => telemetry.traceOfCall(callId),
        onThrew: ({ id: callId, turnId, toolName }, error) =>
          telemetry.inCall(callId, () => logger.warn({ callId, turnId, toolName, error }, "tool threw")),
        onLateOutcome: (call, answer) => this.#reportLate(call, answer),
      },
    };
  }

  /** Returns what a turn needs to run tools. @param storedCalls the turn's calls that an earlier worker has stored */
  toolsOf(turn: CallTurn, storedCalls: readonly Call[]): Required<Pick<TurnDependencies, "tools" | "resume">> {
    this.#turn = turn;
    this.#ledger.forgetPastTurns();
    for (const call of storedCalls) if (call.outcome) this.#ledger.recall(call, Promise.resolve(call.outcome));
    const { serverTools } = this.#options;
    if (storedCalls.some((call) => protectsTurn(call, turn, serverTools))) this.setTurnInterruptible(false);
    return {
      tools: {
        run: (use) => this.#runner.run(use, turn),
        refuse: (use, why) => this.#runner.refuse(use, turn, { why }),
        recordSuccess: (name) => {
          const { endTurn } = this.#ports.serverTools.get(name) ?? {};
          endTurn?.(turn.participant);
          return endTurn !== undefined;
        },
        startsEarly: (name) => this.#offer.startsEarly(this.#ports.serverTools.get(name)),
      },
      resume: (use) => {
        const stored = storedCalls.find(({ toolUseId }) => toolUseId === use.toolUseId);
        return this.#runner.resume(use, turn, stored);
      },
    };
  }

  /** Resumes a call whose outcome an earlier worker promised the model. Reports the outcome when the call ends. */
  async resumePromised(stored: Call): Promise<void> {
    const { toolUseId, toolName, input, turnId, messageId, participant } = stored;
    const turn = { turnId, messageId, participant, signal: new AbortController().signal };
    const call = { ...stored, isBackground: true };
    try {
      const answer = await this.#runner.resume({ toolUseId, toolName, input }, turn, call);
      if (!isReceipt(answer.content)) this.#reportLate(call, answer);
    } catch (error) {
      this.#options.logger.error({ error, callId: call.id }, "resuming tool call failed");
    }
  }

  /** Call this when nothing more can be spoken or shown in the running turn's answer. */
  endTurn(): void {
    this.#turn = undefined;
  }

  /** Returns the tools that the model may use now, in this participant's turn. */
  offer(participant: string, shown: { readonly isCompacted: boolean }): Offer {
    return this.#offer.make(this.#ports.serverTools, this.#ports.clients.hosts(participant), shown);
  }

  /** Whether a turn has open calls and all of them are waiting for permission. */
  isOnlyWaiting(turnId: string | undefined): boolean {
    return isOnlyWaiting(this.#openCallsOf(turnId));
  }

  /**
   * Like `isOnlyWaiting`, but false if any of these calls has started. If none has, the next worker can continue to
   * wait.
   */
  isOnlyWaitingToStart(turnId: string | undefined): boolean {
    const open = this.#openCallsOf(turnId);
    return isOnlyWaiting(open) && open.every(({ current }) => current.state !== "running");
  }

  /** Returns after how many ms the turn must yield to other participants' turns. `undefined` means never. */
  yieldAfterMs(turnId: string): number | undefined {
    return yieldAfterMs(this.#openCallsOf(turnId));
  }

  /** Whether the turn, or a tool that is running, must not be interrupted. */
  get isBlocking(): boolean {
    return !this.#isTurnInterruptible || this.#ledger.openCalls().some(isBlocking);
  }

  setTurnInterruptible(isInterruptible: boolean): void {
    this.#isTurnInterruptible = isInterruptible;
    this.#options.voice?.setInterruptible(!this.isBlocking);
  }

  /** Whether a tool is running, on the worker or on a device. */
  get isAnyRunning(): boolean {
    return this.#ledger.openCalls().some(({ current }) => current.state === "running");
  }

  handlePresence(identity: string, signal: "left" | "returned"): void {
    this.#ledger.signalAll(identity, signal);
  }

  /** Shows call states to a client that has just sent its features: the open calls, and calls that it missed. */
  showStates({ identity }: ParticipantState): void {
    const calls = this.#ledger.openCalls().map(({ current }) => current);
    const shown = calls.filter((call) => this.#mayShow(call));
    this.#states.welcome(identity, shown);
  }

  /** Shows clients who is asked for a call's permission. After the reply, the call's next state shows the result. */
  readonly watchPermissions = (event: SessionEvent): void => {
    if (event.type === "permission_replied") this.#states.forgetAsked(event.permission.callId);
    if (event.type !== "permission_asked") return;
    const { callId, participantIdentity } = event.permission;
    const call = this.#ledger.find(callId);
    if (call) this.#states.showAsked(call.current, participantIdentity);
  };

  /**
   * Cancels one call because a participant asked for that. The call's turn continues. Returns `false` if no open call
   * has this id.
   */
  cancel(callId: string): boolean {
    const call = this.#ledger.find(callId);
    if (call) cancelOne(call, this.#ports);
    return call !== undefined;
  }

  /** Cancels the open calls, and gives the clients a moment to reply. */
  async close(): Promise<void> {
    await this.wire.cancelAll();
  }

  /** Whether this state may be sent to clients. `running` is sent only once it is stored and the call has started. */
  #mayShow({ id, state }: Call): boolean {
    return state !== "running" || this.#ledger.find(id)?.mayHaveRun === true;
  }

  /** Reports a late outcome. A canceled call does not begin a turn, because nobody is waiting for its outcome. */
  #reportLate(call: Call, answer: ModelAnswer): void {
    const { onResult } = this.#pacingOf(call);
    const isCancelled = call.state === "cancelled" && onResult === "speak";
    this.#options.onLateOutcome({ call, answer, onResult: isCancelled ? "wait" : onResult });
  }

  #openCallsOf(turnId: string | undefined): readonly OpenCall[] {
    return this.#ledger.openCalls().filter(({ current }) => current.turnId === turnId);
  }

  #pacingOf({ toolName }: Call): Pacing {
    return this.#options.serverTools.get(toolName)?.pacing ?? DEFAULT_PACING;
  }

  /** The call's turn, while something can still be spoken or shown in it. */
  #turnOf({ current }: OpenCall): CallTurn | undefined {
    return this.#turn?.turnId === current.turnId ? this.#turn : undefined;
  }

  #onSettled(call: Call): void {
    const { id: callId, turnId, toolName, state, executionResolved, outcome, startedAt, finishedAt } = call;
    const ms = startedAt !== undefined && finishedAt !== undefined ? finishedAt - startedAt : undefined;
    const errorCode = outcome && "errorCode" in outcome ? callErrorType(outcome.errorCode) : undefined;
    const line = { callId, turnId, toolName, state, executionResolved, errorCode, ms };
    this.#options.telemetry.inCall(callId, () => this.#options.logger.info(line, "call ended"));
    this.#changes.storeEnd(call);
    if (call.hasStoredPermission) void this.#options.permissions.withdraw(call);
    this.wire.forget(call);
    this.forms.end(call);
  }
}
