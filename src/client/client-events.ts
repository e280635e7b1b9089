import type { AppError } from "../errors/app-error.ts";
import type { Message, MessageBody } from "../protocol/messages/messages.ts";

/** A tool call that runs in this client or on the server. */
export interface ToolCallEvent {
  readonly id: string;
  /** The id of the answer that the call belongs to. */
  readonly messageId: string;
  readonly toolName: string;
  readonly parameters: MessageBody<"tool_use_request">["parameters"];
  readonly ranBy: ToolRunner;
  /** The participant whose turn it is. Absent in this participant's own turns. */
  readonly participant?: string;
}

/** `client` means this client. Calls that run on other participants' devices are not reported here. */
export type ToolRunner = "client" | "server";

export type ToolResultEvent = MessageBody<"tool_use_result"> & {
  readonly toolName: string | undefined;
  readonly ranBy: ToolRunner;
};

/** An ErrorMessage from the worker, or a failure in this client. Only the latter sets `error`. */
export interface ErrorEvent {
  /** See "Error codes" in docs/protocol.md. */
  readonly code: number;
  readonly message: string;
  /** The id of the message that the error is about. */
  readonly originatingId?: string;
  readonly error?: AppError;
}

export interface PermissionClosedEvent {
  /** The request's id. */
  readonly id: string;
  readonly state: "approved" | "rejected" | "expired" | "withdrawn";
}

/** An answer that ended while we were disconnected arrives as one sentence. */
export interface AnswerEndEvent {
  /** The answer's id. */
  readonly id: string;
  /** The id of the user's message. */
  readonly previousId: string;
  readonly text: string;
  readonly sentences: readonly string[];
}

/** The names of all events. `parley.on` rejects any other name. */
export const EVENTS: Readonly<Record<keyof ParleyEvents, true>> = {
  connected: true,
  disconnected: true,
  configuration: true,
  transcription: true,
  answer_start: true,
  sentence: true,
  answer_end: true,
  tool_call: true,
  tool_result: true,
  tool_state: true,
  permission_request: true,
  permission_closed: true,
  error: true,
  message: true,
};

/** The events of `parley.on` and their values. */
export interface ParleyEvents {
  /** A worker has acknowledged our Configuration, including our tools. Emitted again after each reconnect. */
  connected: { readonly agents: readonly string[] };
  /**
   * The last agent has left (`agent`), or we have left the room (`room`). Tools stay registered, and open calls keep
   * running.
   */
  disconnected: { readonly reason: "room" | "agent" };
  configuration: MessageBody<"configuration">;
  transcription: MessageBody<"transcription">;
  answer_start: MessageBody<"start_answer">;
  sentence: MessageBody<"assistant_sentence">;
  answer_end: AnswerEndEvent;
  tool_call: ToolCallEvent;
  tool_result: ToolResultEvent;
  /** The state of any call in the session, wherever it runs. Needs `features: ["tool_call_state"]`. */
  tool_state: MessageBody<"tool_call_state">;
  /** A call needs our permission. Needs `features: ["permissions"]`. Repeated with the same id after a reconnect. */
  permission_request: MessageBody<"permission_request">;
  /** A `permission_request` was answered, here or elsewhere, or closed without an answer. Close its dialog. */
  permission_closed: PermissionClosedEvent;
  error: ErrorEvent;
  /** Every message from the worker, including those that have their own event. */
  message: Message;
}
