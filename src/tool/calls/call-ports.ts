import type { Call, CancelReason, StateDetail } from "../../conversation/call.ts";
import type { Media } from "../../conversation/content.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { CallLedger, OpenCall } from "./call-ledger.ts";
import type { Elicitation, Elicited } from "../define-tool.ts";
import type { TurnDevice } from "../tool-routing.ts";
import type { ModelAnswer } from "../outcome.ts";
import type { AskedNeed, PermissionNeed, Permit } from "../permission-need.ts";
import type { ServerTool } from "../server-tool.ts";

/** The model's request for a tool, from its tool_use block. */
export interface ToolUse {
  readonly toolUseId: string;
  readonly toolName: string;
  readonly input: JsonObject;
  /** Why the arguments cannot be used at all (the model's JSON was invalid). */
  readonly inputError?: string;
}

export interface CallTurn {
  readonly turnId: string;
  readonly messageId: string;
  /** Whose turn it is. */
  readonly participant: string;
  /** Aborted with a `TurnAbort`. */
  readonly signal: AbortSignal;
  /**
   * Speaks or shows a message of the worker itself, in addition to the answer (an aside). Resolves once it was
   * delivered or can no longer be; never rejects. Absent if the turn has ended and the call continues without it.
   */
  readonly aside?: (text: string, signal: AbortSignal) => Promise<Delivery>;
  /** Absent while the answer is not spoken. */
  readonly speech?: TurnSpeech | undefined;
}

/**
 * How an aside reached the participants: `heard`, spoken in full; `shown`, as text; `unsaid`, cut off or not delivered.
 */
export type Delivery = "heard" | "shown" | "unsaid";

/** The speech of a turn's answer. None of these functions rejects. */
export interface TurnSpeech {
  /** Resolves once the answer so far has been played or dropped. */
  readonly untilHeard: () => Promise<void>;
  /** Speaks a filler. It stops when the answer continues. */
  readonly filler: (text: string, signal: AbortSignal) => Promise<void>;
  /** Speaks the status message that the call takes longer. It stops when the answer continues. */
  readonly notice: (signal: AbortSignal) => Promise<void>;
}

/** Settings that are the same for all calls of a session. */
export interface CallSettings {
  readonly room: string;
  readonly roomSid: string;
  readonly sessionId: string;
  /** Used for tools without their own `timeoutMs`. */
  readonly defaultTimeoutMs: number;
  readonly resultMaxBytes: number;
  /** How much of a tool's calls may be shown, by tool name, if the operator has set it. */
  readonly toolDetail: Readonly<Record<string, StateDetail>>;
}

/** Stores calls and their media. */
export interface CallRecord {
  /** Resolves once the tool_use block and the current state of this call are stored. Nothing runs before that. */
  readonly durable: (callId: string) => Promise<void>;
  /** Stores the media of an open call's outcome. Call it before that outcome settles the call. */
  readonly storeMedia: (call: Call, media: readonly Media[]) => void;
}

/** The participants whose devices may run calls, and the messages to them. */
export interface CallClients {
  /** The devices that calls of this participant's turns may go to (`devicesFor`). */
  readonly hosts: (participant: string) => readonly TurnDevice[];
  readonly isPresent: (identity: string) => boolean;
  /**
   * Sends the ToolUseRequest to the call's addressee, or to all participants if it has none. Rejects if it cannot be
   * sent.
   */
  readonly sendRequest: (call: Call) => Promise<void>;
  readonly sendResult: (call: Call) => void;
  readonly sendCancel: (call: Call, reason: CancelReason) => void;
}

export interface CallQuestions {
  /**
   * Whether the call may run. Returns at once if nobody has to be asked; otherwise resolves when the approver has
   * answered.
   */
  readonly permit: (call: OpenCall, need: AskedNeed, turn: CallTurn) => Permit | Promise<Permit>;
  /** The same for permission that a running call asks for. */
  readonly permitRunning: (call: OpenCall, need: PermissionNeed) => Permit | Promise<Permit>;
  /** Returns why a rule denies the call, in words for the model, or `undefined` if no rule does. */
  readonly denialOf: (call: Call, need: PermissionNeed) => string | undefined;
  /** Withdraws the open permission request of a stored call. Never rejects. */
  readonly withdraw: (call: Call) => Promise<void>;
  /**
   * Has a participant fill in a form for a running call. `count` is the number of forms that the call asked for before.
   */
  readonly elicit: <Content>(
    call: OpenCall,
    request: Elicitation<Content>,
    count: number,
  ) => Promise<Elicited<Content>>;
}

/** What a session does when a call begins and ends. */
export interface CallSession {
  /** Resolves when the call may start or is over; `undefined` means at once. The deadline does not run before that. */
  readonly untilMayStart: (call: OpenCall, turn: CallTurn) => Promise<void> | undefined;
  /** Returns headers that make the tool's own requests part of the call's trace; empty without a trace. */
  readonly traceOf: (callId: string) => Readonly<Record<string, string>>;
  /** Called when a server tool has thrown, to log the error. The model sees only its message. */
  readonly onThrew: (call: Call, error: unknown) => void;
  /** Called when a call ends for which the model has already received a receipt. */
  readonly onLateOutcome: (call: Call, answer: ModelAnswer) => void;
}

/** What a call needs of its session. */
export interface CallPorts {
  readonly ledger: CallLedger;
  readonly serverTools: ReadonlyMap<string, ServerTool>;
  readonly settings: CallSettings;
  readonly record: CallRecord;
  readonly clients: CallClients;
  readonly questions: CallQuestions;
  readonly session: CallSession;
}
