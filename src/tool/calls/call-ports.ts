import type { Call, CancelReason, StateDetail } from "../../conversation/call.ts";
import type { Media } from "../../conversation/content.ts";
import type { StateAccess } from "../../conversation/state/session-state.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { CallLedger, OpenCall } from "./call-ledger.ts";
import type { Elicitation, Elicited, ToolContext } from "../define-tool.ts";
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
  /** The participant whose turn it is. */
  readonly participant: string;
  /** Aborted when the turn is aborted, with a `TurnAbort` as its reason. */
  readonly signal: AbortSignal;
  /**
   * Speaks or shows a message from the worker itself, in addition to the answer (an aside). Resolves once the message
   * has been delivered or dropped; never rejects. Absent if the call continues after its turn has ended.
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
  readonly untilPlayed: () => Promise<void>;
  /** Speaks a filler. It stops when the answer continues. */
  readonly filler: (text: string, signal: AbortSignal) => Promise<void>;
  /** Speaks the status message of a slow call. It stops when the answer continues. */
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
  /**
   * How much of a tool's calls may be shown, keyed by tool name. Contains only the tools that the operator configured.
   */
  readonly toolDetail: Readonly<Record<string, StateDetail>>;
}

/** Stores calls and their media. */
export interface CallRecord {
  /**
   * Resolves once the tool_use block and the current state of this call are stored. The call does not run before that.
   */
  readonly durable: (callId: string) => Promise<void>;
  /** Stores the media of an open call's outcome. Must be called before the call is settled with that outcome. */
  readonly storeMedia: (call: Call, media: readonly Media[]) => void;
}

/** The participants whose devices may run calls, and the messages to them. */
export interface CallClients {
  /** The devices that calls in this participant's turns may go to (`devicesFor`). */
  readonly hosts: (participant: string) => readonly TurnDevice[];
  readonly isPresent: (identity: string) => boolean;
  /**
   * Sends the ToolUseRequest to the call's addressee, or to all participants if there is none. Rejects if sending
   * fails.
   */
  readonly sendRequest: (call: Call) => Promise<void>;
  readonly sendResult: (call: Call) => void;
  readonly sendCancel: (call: Call, reason: CancelReason) => void;
}

export interface CallQuestions {
  /**
   * Decides whether the call may run. Returns at once if nobody has to be asked; otherwise resolves when the approver
   * has answered.
   */
  readonly permit: (call: OpenCall, need: AskedNeed, turn: CallTurn) => Permit | Promise<Permit>;
  /** Like `permit`, for a permission that a running call asks for. */
  readonly permitRunning: (call: OpenCall, need: PermissionNeed) => Permit | Promise<Permit>;
  /** Returns why a rule denies the call, in words for the model, or `undefined` if no rule does. */
  readonly denialOf: (call: Call, need: PermissionNeed) => string | undefined;
  /** Withdraws the open permission request of a stored call. Never rejects. */
  readonly withdraw: (call: Call) => Promise<void>;
  /**
   * Asks a participant to fill in a form for a running call. `index` is the number of forms that the call showed
   * earlier.
   */
  readonly elicit: <Content>(
    call: OpenCall,
    request: Elicitation<Content>,
    index: number,
  ) => Promise<Elicited<Content>>;
}

/** What a session does when a call starts and ends. */
export interface CallSession {
  /** Returns the agent that serves the session now, and the attributes of a participant of the room. */
  readonly describe: (participant: string) => Pick<ToolContext, "agent" | "attributes">;
  /**
   * Resolves when the call may start or has ended. Returns `undefined` if it may start at once. The call's deadline
   * starts only after that.
   */
  readonly untilMayStart: (call: OpenCall, turn: CallTurn) => Promise<void> | undefined;
  /** Returns headers that make the tool's own requests part of the call's trace; empty without a trace. */
  readonly traceOf: (callId: string) => Readonly<Record<string, string>>;
  /** Called to log the error when a server tool has thrown. The model sees only the error's message. */
  readonly onThrew: (call: Call, error: unknown) => void;
  /** Called when a call ends after the model has received a receipt for it. */
  readonly onLateOutcome: (call: Call, answer: ModelAnswer) => void;
}

/** The session's state, as calls read and change it. */
export interface CallState {
  /** Returns a call's access to the state. Its updates take effect when the call succeeds. */
  readonly accessOf: (call: { readonly id: string; readonly signal: AbortSignal }) => StateAccess;
  /** Call this right before the call succeeds. @throws if the call's updates cannot be applied to the current state */
  readonly check: (callId: string) => void;
  /**
   * Resolves once the change that an ended call has made is stored. Returns `undefined` if it has made none.
   *
   * @throws {AppError} if the change could not be stored
   */
  readonly untilStored: (callId: string) => Promise<void> | undefined;
}

/** What a call needs from its session. */
export interface CallPorts {
  readonly ledger: CallLedger;
  readonly serverTools: ReadonlyMap<string, ServerTool>;
  readonly settings: CallSettings;
  readonly record: CallRecord;
  readonly state: CallState;
  readonly clients: CallClients;
  readonly questions: CallQuestions;
  readonly session: CallSession;
}
