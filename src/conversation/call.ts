import type { JsonObject } from "../lib/json.ts";
import type { ContentBlock } from "./content.ts";

/** Who may run a tool. */
export type Execution = "server" | "client" | "either";
/** What happens to an open call when the participant interrupts the turn. */
export type OnInterrupt = "finish" | "cancel" | "block";
/**
 * How much of a call may be shown: everything (`full`), only its name, state and times (`name`), or nothing (`off`).
 */
export type StateDetail = "full" | "name" | "off";

/** The worker's error codes (docs/errors.md). A client may send any other string. */
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

/** Codes of calls that never ran. */
export const NEVER_RAN: ReadonlySet<string> = new Set([
  "unknown_tool",
  "invalid_parameters",
  "permission_denied",
  "not_run",
] satisfies CallErrorCode[]);

/** How a call ended. A failure's `result` is a partial result or a diagnosis. */
export type Outcome = Success | Failure;

export interface Success {
  readonly state: "success";
  readonly result: JsonObject;
  /** Shown to the model instead of `result`. */
  readonly content?: readonly ContentBlock[];
  /** Sent to clients for display. The model never sees it. */
  readonly display?: JsonObject;
}

export interface Failure {
  readonly state: "error" | "cancelled";
  readonly errorCode: CallErrorCode;
  readonly errorMessage: string;
  readonly result?: JsonObject;
}

/** `pending → running → success | error | cancelled`. The first terminal state is final. */
export type CallState = "pending" | "running" | Outcome["state"];

/**
 * One tool call. The ledger changes it, the store saves it, and every view of the call is derived from it.
 *
 * To add a field, write a migration. If the field can change, add it to `INITIAL_CALL_STATE`, so that the store saves
 * it and live events contain it. If its value can be large, exclude it from `REPORTED_FIELDS` in live-event.ts. If the
 * field never changes, add it to `FIXED` in `src/store/calls.ts` and to `newCall`. In fill-in-form.ts, `newForm` sets
 * some fields itself and copies all others from the call that asks for the form.
 */
export interface Call {
  /** The id of the ToolUseRequest, a NanoID. */
  readonly id: string;
  /** The model's own id of the tool use. */
  readonly toolUseId: string;
  readonly turnId: string;
  /** The assistant message that the call belongs to. */
  readonly messageId: string;
  /** The participant whose turn it is. */
  readonly participant: string;
  readonly toolName: string;
  /** The MCP server that provides the tool. */
  readonly mcpServer: string | undefined;
  readonly input: JsonObject;
  readonly timeoutMs: number;
  readonly executionAsked: Execution;
  readonly idempotencyKey: string;
  readonly onInterrupt: OnInterrupt;
  /**
   * Whether the turn continues without waiting for the call. If so, the model reads a receipt in place of the result,
   * and the outcome follows in a later turn.
   */
  readonly isBackground: boolean;
  readonly state: CallState;
  /** Who runs the call, once decided. */
  readonly executionResolved: "server" | "client" | undefined;
  /** The participant whose device received the call. Only this participant's answer counts. */
  readonly addressee: string | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt: number | undefined;
  /** Milliseconds since the epoch. Absent until the call runs, and while it waits for permission. */
  readonly deadlineAt: number | undefined;
  readonly finishedAt: number | undefined;
  readonly outcome: Outcome | undefined;
  /** Increases by one with each change, so that newer states have higher numbers. */
  readonly revision: number;
  /** Lines that the tool logged, within the limits of `CallLog`. */
  readonly logs: readonly string[];
  /** From 0 to 1, as last reported by the tool. */
  readonly progress: number | undefined;
  /** Which fields of the call may be shown. */
  readonly detail: StateDetail;
  /** The arguments that the participant entered instead of `input`. The call runs with these. */
  readonly editedInput: JsonObject | undefined;
  /**
   * Whether a permission request for the call was already stored when this worker loaded the call. Requests that this
   * worker makes itself do not set this field.
   */
  readonly hasStoredPermission: boolean;
}

/**
 * The initial state of a call. Contains every field that changes while the call is open, except `isBackground`, whose
 * initial value depends on the tool. This list determines which fields `update` accepts and live events contain.
 */
export const INITIAL_CALL_STATE = {
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

/**
 * A late or second answer to a call, or an answer from the wrong participant. It is stored with the call and changes
 * nothing.
 */
export interface ExtraAnswer {
  readonly kind: "late" | "duplicate" | "wrong_participant";
  readonly from: string;
  readonly success: boolean;
  readonly errorCode?: string;
}

export type CancelReason = "timeout" | "interrupted" | "superseded" | "closed";

/** Returns a copy of the call with this outcome. Its end time is the current time of this process's clock. */
export function endedCall(call: Call, outcome: Outcome): Call {
  return { ...call, state: outcome.state, outcome, finishedAt: Date.now(), revision: call.revision + 1 };
}

/**
 * Returns the `toolUseId` for a form's call. A form is requested by another call instead of the model, so no block has
 * this `toolUseId`. It contains the other call's id.
 */
export function formUseId(callId: string, formId: string): string {
  return `form:${callId}:${formId}`;
}

/**
 * If this call is a form that another call asks for, returns the other call's id. If the model requested this call,
 * returns `undefined`.
 */
export function parentCallId({ toolUseId }: Pick<Call, "toolUseId">): string | undefined {
  return /^form:([\w-]+):/u.exec(toolUseId)?.[1];
}
