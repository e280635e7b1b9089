import { type Call, type CancelReason, type StateDetail } from "../../conversation/call.ts";
import { type JsonObject } from "../../lib/json.ts";
import { type CallLedger, type OpenCall } from "./call-ledger.ts";
import { type ToolHost } from "../tool-routing.ts";
import { type ModelAnswer } from "../outcome.ts";
import { type AskedNeed, type PermissionNeed, type Permit } from "../permission-need.ts";
import { type ServerTool } from "../server-tool.ts";

/** The model's request for a tool, as its block says it. */
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
   * Says something beside the turn's answer. Resolves when it has been said or was cut off; never rejects. Absent when
   * the turn is over, and the call has outlived it.
   */
  readonly aside?: (text: string, signal: AbortSignal) => Promise<void>;
  /** Absent while the answer is not spoken. */
  readonly speech?: TurnSpeech | undefined;
}

/** A turn's answer on its way to the ear. Nothing here rejects. */
export interface TurnSpeech {
  /** Resolves when what was said so far has been heard, or will not be any more. */
  readonly untilHeard: () => Promise<void>;
  /** Said over a wait: an aside that the answer's next words cut off. */
  readonly filler: (text: string, signal: AbortSignal) => Promise<void>;
  /** Says in the same way that it takes longer. */
  readonly notice: (signal: AbortSignal) => Promise<void>;
}

/** What a call needs of the session around it. */
export interface CallPorts {
  readonly ledger: CallLedger;
  readonly serverTools: ReadonlyMap<string, ServerTool>;
  /** Whom the calls of this participant's turns may go to (`hostsFor`). */
  readonly hosts: (participant: string) => readonly ToolHost[];
  readonly room: string;
  /** For tools that declare no `timeoutMs` of their own. */
  readonly defaultTimeoutMs: number;
  readonly resultMaxBytes: number;
  /** Resolves when the tool_use block and this call are stored as they are now: nothing runs before. */
  readonly durable: (callId: string) => Promise<void>;
  /**
   * Resolves when the call may be handed to whoever runs it, or is over; that time does not count against its deadline.
   */
  readonly untilMayStart: (call: OpenCall, turn: CallTurn) => Promise<void>;
  /** Whether the call may run: at once where nobody need be asked, else when the participant has answered. */
  readonly permit: (call: OpenCall, need: AskedNeed, turn: CallTurn) => Permit | Promise<Permit>;
  /** The same for what a running call asks permission for. */
  readonly permitRunning: (call: OpenCall, need: PermissionNeed) => Permit | Promise<Permit>;
  /** Nobody is asked about a stored call any more. Never rejects. */
  readonly withdraw: (call: Call) => Promise<void>;
  /** What nobody may allow: why it may not run, for the model; `undefined` when no rule denies it. */
  readonly denialOf: (call: Call, need: PermissionNeed) => string | undefined;
  readonly isPresent: (identity: string) => boolean;
  /**
   * ToolUseRequest, to the call's addressee or, for one that no client runs, to all. Rejects when it cannot be sent.
   */
  readonly sendRequest: (call: Call) => Promise<void>;
  readonly sendResult: (call: Call) => void;
  readonly sendCancel: (call: Call, reason: CancelReason) => void;
  /** Headers that make what the tool asks of others part of the call's trace; empty where there is none. */
  readonly traceOf: (callId: string) => Readonly<Record<string, string>>;
  /** What of a tool's calls may be shown, where the operator says so. */
  readonly toolDetail: Readonly<Record<string, StateDetail>>;
  /** A call has ended for which the model was given a receipt. */
  readonly onLateOutcome: (call: Call, answer: ModelAnswer) => void;
}
