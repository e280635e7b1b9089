import type { JsonObject } from "../lib/json.ts";
import type { ContentBlock } from "./content.ts";

/** Who may run a tool. */
export type Execution = "server" | "client" | "either";
/** What becomes of an open call when the participant interrupts its turn. */
export type OnInterrupt = "finish" | "cancel" | "block";
/** What may be shown of a call: everything, only name, status and times, or nothing. */
export type StateDetail = "full" | "name" | "off";

/** The error codes that the worker gives (docs/errors.md); a client may send any other text. */
export type CallErrorCode =
  | "unknown_tool"
  | "invalid_parameters"
  | "execution_error"
  | "timeout"
  | "cancelled"
  | "client_disconnected"
  | "permission_denied"
  | "result_too_large"
  | "protocol_error"
  | "not_run"
  | "outcome_unknown"
  | (string & {});

/** Codes of calls that nobody has run. */
export const NEVER_RAN: ReadonlySet<string> = new Set([
  "unknown_tool",
  "invalid_parameters",
  "permission_denied",
  "not_run",
] satisfies CallErrorCode[]);

/** How a call ended. `result` beside an error is a partial result or a diagnosis. */
export type Outcome = Success | Failure;

export interface Success {
  readonly state: "success";
  readonly result: JsonObject;
  /** What the model is shown in the place of `result`. */
  readonly content?: readonly ContentBlock[];
  /** What clients are given to display. The model is not told of it. */
  readonly display?: JsonObject;
}

export interface Failure {
  readonly state: "error" | "cancelled";
  readonly errorCode: CallErrorCode;
  readonly errorMessage: string;
  readonly result?: JsonObject;
}

/** `pending → running → success | error | cancelled`; the first terminal state wins. */
export type CallState = "pending" | "running" | Outcome["state"];

/**
 * One tool call: the ledger changes it, the store keeps it, and everything that is shown of it is made from it.
 *
 * A new field needs a migration. One that may change needs a line in `UNTOUCHED`: the store then writes and reads it,
 * and live events tell of it, unless `TOLD` in live-event.ts leaves it out for being long. One that never changes needs
 * a line in `FIXED` of `src/store/calls.ts`, and in `newCall`. A form takes all other fields over from the call that
 * asks: see `newForm` in fill-in-form.ts.
 */
export interface Call {
  /** The ToolUseRequest's id, a NanoID. */
  readonly id: string;
  /** The model's own id of the tool use. */
  readonly toolUseId: string;
  readonly turnId: string;
  /** The assistant message that the call belongs to. */
  readonly messageId: string;
  /** Whose turn it is. */
  readonly participant: string;
  readonly toolName: string;
  /** The MCP server of its tool. */
  readonly mcpServer: string | undefined;
  readonly input: JsonObject;
  readonly timeoutMs: number;
  readonly executionAsked: Execution;
  readonly idempotencyKey: string;
  readonly onInterrupt: OnInterrupt;
  /** Its turn does not wait for it: the model gets a receipt, and the outcome comes into the session later. */
  readonly isBackground: boolean;
  readonly state: CallState;
  /** Who runs it, once that is decided. */
  readonly executionResolved: "server" | "client" | undefined;
  /** The participant that the call was sent to; only its answer counts. */
  readonly addressee: string | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt: number | undefined;
  /** Milliseconds since the epoch. Absent before the call runs, and while it waits for a permission. */
  readonly deadlineAt: number | undefined;
  readonly finishedAt: number | undefined;
  readonly outcome: Outcome | undefined;
  /** Grows by one with each change: of two states of one call, the higher number is the newer state. */
  readonly revision: number;
  /** Lines logged by the tool, within the limits of `CallLog`. */
  readonly logs: readonly string[];
  /** From 0 to 1, as last reported by the tool. */
  readonly progress: number | undefined;
  /** What may be shown of the call. */
  readonly detail: StateDetail;
  /** The arguments that the participant put in the place of `input`; the call runs with these. */
  readonly editedInput: JsonObject | undefined;
  /** Whether a permission request of it was stored when the call was loaded. Requests of this worker do not set it. */
  readonly hasStoredPermission: boolean;
}

/**
 * A call to which nothing has happened yet. All fields that change while it is open are here, but `isBackground`, which
 * is first what its tool says; what `update` takes and what live events tell follow from this list.
 */
export const UNTOUCHED = {
  state: "pending",
  executionResolved: undefined,
  addressee: undefined,
  startedAt: undefined,
  deadlineAt: undefined,
  finishedAt: undefined,
  outcome: undefined,
  revision: 0,
  logs: [],
  progress: undefined,
  editedInput: undefined,
  hasStoredPermission: false,
} as const satisfies Partial<Call>;

/** An answer that changed nothing, kept on the call's record. */
export interface ExtraAnswer {
  readonly kind: "late" | "duplicate" | "wrong_participant";
  readonly from: string;
  readonly success: boolean;
  readonly errorCode?: string;
}

export type CancelReason = "timeout" | "interrupted" | "superseded" | "closed";

/** The call with its outcome, ended now by this process's clock. */
export function endedCall(call: Call, outcome: Outcome): Call {
  return { ...call, state: outcome.state, outcome, finishedAt: Date.now(), revision: call.revision + 1 };
}

/** The tool use's id of a form that a running call has somebody fill in: no block has it, and it names that call. */
export function formUseId(callId: string, formId: string): string {
  return `form:${callId}:${formId}`;
}

/** The call that has somebody fill in this form; `undefined` for a call that the model has asked for. */
export function asksFor({ toolUseId }: Pick<Call, "toolUseId">): string | undefined {
  return /^form:([\w-]+):/u.exec(toolUseId)?.[1];
}
