import { context, isSpanContextValid, trace, type Context, type ObservableCallback } from "@opentelemetry/api";
import { parentCallId, type Call, type ExtraAnswer } from "../../conversation/call.ts";
import type { ErrorCode } from "../../errors/app-error.ts";
import type { TurnTimings } from "../../conversation/turn-timings.ts";
import type { TurnState } from "../../conversation/turn-record.ts";
import type { JsonObject } from "../../lib/json.ts";
import { evictOldest } from "../../lib/evict-oldest.ts";
import { ATTR, PARLEY, SPAN } from "../../telemetry/names.ts";
import { quietly } from "../../telemetry/quietly.ts";
import { createTelemetry, type Telemetry } from "../../telemetry/telemetry.ts";
import { readTrace, writeTrace, type TraceHeaders } from "../../telemetry/trace-context.ts";
import type { ChatObserver } from "../model/open-stream.ts";
import type { SessionEvent } from "../events/session-event.ts";
import type { SpokenTimes, VoicePort } from "../room/voice-port.ts";
import { CallTrace } from "./call-trace.ts";
import { ChatTrace, traced } from "./chat-trace.ts";
import { PermissionTraces } from "./permission-traces.ts";
import { observeVoice } from "./speech-trace.ts";
import { TurnTimes } from "./turn-times.ts";
import { TurnTrace, type ToolNames } from "./turn-trace.ts";

export interface SessionIdentity {
  readonly conversationId: string;
  readonly sessionId: string;
  readonly model: string;
  readonly ownTools: ToolNames;
}

interface Begin {
  readonly participant: string;
  /** The `meta` in the envelope of the message that began the turn. */
  readonly meta: JsonObject | undefined;
  /** When the message was spoken, if it was. */
  readonly spoken?: SpokenTimes | undefined;
  /** The agent that serves the turn. @defaultValue the agent named in the settings */
  readonly agent?: { readonly name: string; readonly model: string } | undefined;
}

/** The cost of a part of a model call. */
interface SpentNote {
  readonly tokens: number;
  readonly money: number;
  readonly model: string;
  readonly purpose: string;
}

const REMEMBERED_CALLS = 256;

/** The spans and metrics of one session. Nothing here throws into the session, delays it, or retains content. */
export class SessionTelemetry {
  /** The telemetry of the running turn, with the name of its agent and a tracer that also records the turn's times. */
  #telemetry: Telemetry;
  readonly #tracer: Telemetry["tracer"];
  #times = new TurnTimes();
  readonly #agentName: string;
  readonly #identity: SessionIdentity;
  readonly #onObserved: ObservableCallback;
  #turn: TurnTrace | undefined;
  readonly #permissions: PermissionTraces;
  readonly #calls = new Map<string, CallTrace>();
  /** The contexts of ended calls, oldest first: a late answer still belongs to its call's trace. */
  readonly #ended = new Map<string, Context>();

  /** @param waitingBlocks returns how many blocks are queued to be stored */
  constructor(
    telemetry: Telemetry = createTelemetry(),
    identity: Partial<SessionIdentity> = {},
    waitingBlocks: () => number = () => 0,
  ) {
    this.#telemetry = telemetry;
    this.#tracer = telemetry.tracer;
    this.#agentName = telemetry.agentName;
    this.#permissions = new PermissionTraces(telemetry);
    this.#identity = { conversationId: "", sessionId: "", model: "", ownTools: new Set(), ...identity };
    this.#onObserved = (result) => result.observe(waitingBlocks());
    quietly(() => telemetry.instruments.sessions.add(1));
    telemetry.instruments.waitingBlocks.addCallback(this.#onObserved);
  }

  close(): void {
    quietly(() => this.#telemetry.instruments.sessions.add(-1));
    this.#telemetry.instruments.waitingBlocks.removeCallback(this.#onObserved);
  }

  /** Runs a turn in its span, so that log lines written meanwhile belong to it. */
  async turn<End extends { readonly state: TurnState; readonly errorCode: ErrorCode | undefined }>(
    { participant, meta = {}, agent, spoken }: Begin,
    run: () => Promise<End>,
  ): Promise<End> {
    const parent = quietly(() => readTrace(meta));
    const { model = this.#identity.model, name: agentName = this.#agentName } = agent ?? {};
    const times = new TurnTimes();
    this.#times = times;
    const telemetry = { ...this.#telemetry, agentName, tracer: this.#tracer };
    this.#telemetry = { ...telemetry, tracer: times.watch(this.#tracer) };
    const turn = quietly(() => new TurnTrace(telemetry, { ...this.#identity, model, participant, parent }));
    this.#turn = turn;
    quietly(() => turn && spoken && this.#recordListening(turn, spoken));
    let end: End | undefined;
    try {
      end = await (turn ? context.with(turn.context, run) : run());
      return end;
    } finally {
      quietly(() => turn?.end(end));
      this.#turn = undefined;
    }
  }

  /** Returns the times of the running turn, with its end set to now. */
  readonly timesOfTurn = (): TurnTimings => this.#times.toTimings();

  #recordListening({ context: parent }: TurnTrace, { fromAt, toAt, turnEnd }: SpokenTimes): void {
    const span = this.#telemetry.tracer.startSpan(SPAN.hearing, { startTime: new Date(fromAt) }, parent);
    span.setAttribute(PARLEY.hearingSpoken, (toAt - fromAt) / 1_000);
    if (turnEnd) this.#times.handleTurnEnd(turnEnd);
    if (turnEnd?.sound !== undefined) span.setAttribute(PARLEY.turnEndSound, turnEnd.sound);
    if (turnEnd?.endsSentence !== undefined) span.setAttribute(PARLEY.turnEndSentence, turnEnd.endsSentence);
    if (turnEnd) span.setAttribute(PARLEY.turnEndComplete, turnEnd.isComplete);
    span.end();
  }

  watch(event: SessionEvent): void {
    quietly(() => this.#watch(event));
  }

  #watch(event: SessionEvent): void {
    if (event.type === "turn") {
      if (event.event.type === "block_delta" && event.event.delta.type === "text") this.#times.handleText();
      this.#turn?.watch(event.turn, event.event);
    }
    if (event.type === "tool_state") this.#watchCall(event.call);
    if (event.type === "permission_asked")
      this.#permissions.ask(event.permission, this.#calls.get(event.permission.callId));
    if (event.type === "permission_replied") this.#permissions.reply(event.permission);
  }

  readonly observeChat: ChatObserver = (call, stream) => {
    const chat = quietly(() => this.#turn && new ChatTrace(this.#telemetry, this.#turn, call));
    return chat ? traced(chat, stream) : stream;
  };

  observeVoice(voice: VoicePort): VoicePort {
    return observeVoice(voice, { telemetry: () => this.#telemetry, parent: () => this.#turn?.context });
  }

  /** Returns headers that make the spans of the call's runner part of this trace; empty if there is no trace. */
  traceOfCall(callId: string): TraceHeaders {
    const found = this.#calls.get(callId)?.context ?? this.#ended.get(callId);
    return (found && quietly(() => writeTrace(found))) ?? {};
  }

  readonly traceOfTurn = (): TraceHeaders => quietly(() => this.#turn && writeTrace(this.#turn.context)) ?? {};

  /** Runs `action` in the call's span, so that its log lines belong to the call. */
  inCall(callId: string, action: () => void): void {
    const call = this.#calls.get(callId);
    if (call) context.with(call.context, action);
    else action();
  }

  /** Links the call's span to the client's own span, if the result's `meta` contains one. */
  recordAnswer(callId: string, from: string, meta: JsonObject): void {
    const call = this.#calls.get(callId);
    if (call?.addressee !== from) return;
    quietly(() => {
      const theirs = readTrace(meta);
      const ours = trace.getSpanContext(call.context);
      if (theirs && theirs.spanId !== ours?.spanId) call.link(theirs);
    });
  }

  recordExtraAnswer(callId: string, { kind, success }: ExtraAnswer): void {
    // The session's own tracer is used, because the call may belong to an earlier turn than the running one.
    const tracer = this.#tracer;
    const { instruments } = this.#telemetry;
    const parent = this.#ended.get(callId) ?? this.#calls.get(callId)?.context;
    const attributes = { [PARLEY.callId]: callId, [PARLEY.answerKind]: kind, [PARLEY.answerSuccess]: success };
    quietly(() => parent && tracer.startSpan(SPAN.extraAnswer, { attributes }, parent).end());
    quietly(() => instruments.extraAnswers.add(1, { [PARLEY.answerKind]: kind }));
  }

  recordSpent({ tokens, money, model, purpose }: SpentNote): void {
    const attributes = { [ATTR.requestModel]: model, [PARLEY.spendingPurpose]: purpose };
    quietly(() => this.#telemetry.instruments.spentTokens.add(tokens, attributes));
    quietly(() => money > 0 && this.#telemetry.instruments.spentMoney.add(money, attributes));
  }

  recordBudget(budget: string, event: "warned" | "spent"): void {
    const attributes = { [PARLEY.budget]: budget, [PARLEY.budgetEvent]: event };
    quietly(() => this.#telemetry.instruments.budgetEvents.add(1, attributes));
  }

  recordPreemptiveGeneration(end: "adopted" | "void"): void {
    quietly(() => this.#telemetry.instruments.speculations.add(1, { [PARLEY.speculationEnd]: end }));
  }

  recordModelFallback(model: string, reason: string): void {
    const attributes = { [ATTR.requestModel]: model, [ATTR.errorType]: reason };
    quietly(() => this.#telemetry.instruments.modelFallbacks.add(1, attributes));
  }

  recordHook(name: string, end: "done" | "failed" | "late"): void {
    quietly(() => this.#telemetry.instruments.hooks.add(1, { [PARLEY.hook]: name, [PARLEY.hookEnd]: end }));
  }

  recordDropped(reason: string): void {
    quietly(() => this.#telemetry.instruments.droppedMessages.add(1, { [PARLEY.dropReason]: reason }));
  }

  #watchCall(call: Call): void {
    let known = this.#calls.get(call.id);
    if (!known) {
      // A form belongs to the call that asks for it, because the model did not request it.
      const asking = this.#calls.get(parentCallId(call) ?? "")?.context;
      const ofForm = asking && { parent: asking, description: undefined, label: call.toolName };
      const options = ofForm ?? this.#turn?.beginToolCall(call.toolName);
      if (this.#ended.has(call.id) || !options) return;
      known = new CallTrace(this.#telemetry, call, options);
      this.#calls.set(call.id, known);
    }
    if (this.#turn?.id !== call.turnId) known.isLate = true;
    if (call.outcome) {
      this.#calls.delete(call.id);
      this.#remember(call.id, known.context);
    }
    known.update(call);
  }

  #remember(callId: string, of: Context): void {
    const span = trace.getSpanContext(of);
    if (!span || !isSpanContextValid(span)) return;
    this.#ended.set(callId, of);
    evictOldest(this.#ended, REMEMBERED_CALLS);
  }
}
