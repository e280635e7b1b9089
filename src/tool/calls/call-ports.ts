import type { Call, CancelReason, StateDetail } from "../../conversation/call.ts";
import type { Media } from "../../conversation/content.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { CallLedger, OpenCall } from "./call-ledger.ts";
import type { Elicitation, Elicited } from "../define-tool.ts";
import type { TurnHost } from "../tool-routing.ts";
import type { ModelAnswer } from "../outcome.ts";
import type { AskedNeed, PermissionNeed, Permit } from "../permission-need.ts";
import type { ServerTool } from "../server-tool.ts";

/** The model's request for a tool, from its tool_use block. */
export interface ToolUse {
  readonly toolUseId: string;
  readonly toolName: string;
  readonly input: JsonObject;
  /** Why the arguments cannot be used at all (the model's JSON was broken). */
  readonly inputError?: string;
}

/** The turn that a call belongs to. */
export interface CallTurn {
  readonly turnId: string;
  readonly messageId: string;
  /** Whose turn it is. */
  readonly participant: string;
  /** Aborted with a `TurnAbort`. */
  readonly signal: AbortSignal;
  /**
   * Says an aside. Resolves once it has been said, or can no longer be said; never rejects. Absent when the turn is
   * over and the call has outlived it.
   */
  readonly aside?: (text: string, signal: AbortSignal) => Promise<Said>;
  /** Absent while the answer is not spoken. */
  readonly speech?: TurnSpeech | undefined;
}

/** How words reached the participants: spoken in full, or as text. `unsaid`: they were cut off, or there was no way. */
export type Said = "heard" | "shown" | "unsaid";

/** The speech of a turn's answer. Nothing here rejects. */
export interface TurnSpeech {
  /** Resolves when the answer so far has been heard, or will not be heard any more. */
  readonly untilHeard: () => Promise<void>;
  /** Says an aside that fills a wait; the answer's next words cut it off. */
  readonly filler: (text: string, signal: AbortSignal) => Promise<void>;
  /** Says an aside of the same kind: that the call takes longer. */
  readonly notice: (signal: AbortSignal) => Promise<void>;
}

/** What is the same for all calls of a session. */
export interface CallSettings {
  readonly room: string;
  readonly roomSid: string;
  readonly sessionId: string;
  /** For tools without a `timeoutMs` of their own. */
  readonly defaultTimeoutMs: number;
  readonly resultMaxBytes: number;
  /** What may be shown of calls, by tool name, where the operator has set it. */
  readonly toolDetail: Readonly<Record<string, StateDetail>>;
}

/** Stores calls and what they name. */
export interface CallRecord {
  /** Resolves when the tool_use block and this call are stored as they are now: nothing runs before. */
  readonly durable: (callId: string) => Promise<void>;
  /** Keeps the bytes that the outcome of an open call names: before that outcome settles it. */
  readonly keepMedia: (call: Call, media: readonly Media[]) => void;
}

/** The participants that may run calls, and the messages to them. */
export interface CallClients {
  /** The hosts that calls of this participant's turns may go to (`hostsFor`). */
  readonly hosts: (participant: string) => readonly TurnHost[];
  readonly isPresent: (identity: string) => boolean;
  /**
   * Sends the ToolUseRequest to the call's addressee, without one to all participants. Rejects when it cannot be sent.
   */
  readonly sendRequest: (call: Call) => Promise<void>;
  readonly sendResult: (call: Call) => void;
  readonly sendCancel: (call: Call, reason: CancelReason) => void;
}

/** Asks people. */
export interface CallQuestions {
  /** Whether the call may run: at once when nobody need be asked, else when the approver has answered. */
  readonly permit: (call: OpenCall, need: AskedNeed, turn: CallTurn) => Permit | Promise<Permit>;
  /** The same for what a running call asks permission for. */
  readonly permitRunning: (call: OpenCall, need: PermissionNeed) => Permit | Promise<Permit>;
  /** Why a rule denies the call, in words for the model; `undefined` when none does. */
  readonly denialOf: (call: Call, need: PermissionNeed) => string | undefined;
  /** Withdraws the open question about a stored call. Never rejects. */
  readonly withdraw: (call: Call) => Promise<void>;
  /** Has somebody fill in the form that a running call asks for; `count` says how many it has asked for before. */
  readonly elicit: <Content>(
    call: OpenCall,
    request: Elicitation<Content>,
    count: number,
  ) => Promise<Elicited<Content>>;
}

/** What the session around a call does at its beginning and its end. */
export interface CallSession {
  /** Resolves when the call may start, or is over; `undefined`: at once. The deadline does not run before. */
  readonly untilMayStart: (call: OpenCall, turn: CallTurn) => Promise<void> | undefined;
  /** Headers that make the tool's own requests part of the call's trace; empty where there is none. */
  readonly traceOf: (callId: string) => Readonly<Record<string, string>>;
  /** Called when a server tool has thrown, for the log: the model is told the message alone. */
  readonly onThrew: (call: Call, error: unknown) => void;
  /** A call has ended for which the model had got a receipt. */
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
