import type { AppError } from "../errors/app-error.ts";
import type { Message, MessageBody } from "../protocol/messages/messages.ts";

/** A tool call that this client runs, or that the server runs. */
export interface ToolCallEvent {
  readonly id: string;
  /** The id of the answer that the call belongs to. */
  readonly messageId: string;
  readonly toolName: string;
  readonly parameters: MessageBody<"tool_use_request">["parameters"];
  readonly ranBy: ToolRunner;
  /** Whose turn it is; absent when it is this participant's own. */
  readonly participant?: string;
}

/** `client` is this client: calls that other participants run are not reported here. */
export type ToolRunner = "client" | "server";

export type ToolResultEvent = MessageBody<"tool_use_result"> & {
  readonly toolName: string | undefined;
  readonly ranBy: ToolRunner;
};

/** An ErrorMessage of the worker, or a failure in this client, which sets `error`. */
export interface ErrorEvent {
  /** As in docs/protocol.md, under Error codes. */
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

/** An answer that was given while we were away is one sentence. */
export interface AnswerEndEvent {
  /** The answer's id. */
  readonly id: string;
  /** The id of the message that was answered. */
  readonly previousId: string;
  readonly text: string;
  readonly sentences: readonly string[];
}

/** The names of the events: `parley.on` refuses any other. */
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

/** The events of `parley.on`, and their values. */
export interface ParleyEvents {
  /** A worker has acknowledged our Configuration, so it knows us and our tools. Again after each reconnect. */
  connected: { readonly agents: readonly string[] };
  /** The last agent has left (`agent`), or we have (`room`). Tools stay registered, and open calls run on. */
  disconnected: { readonly reason: "room" | "agent" };
  configuration: MessageBody<"configuration">;
  transcription: MessageBody<"transcription">;
  answer_start: MessageBody<"start_answer">;
  sentence: MessageBody<"assistant_sentence">;
  answer_end: AnswerEndEvent;
  tool_call: ToolCallEvent;
  tool_result: ToolResultEvent;
  /** The state of a call of the session, wherever it runs. Needs `features: ["tool_call_state"]`. */
  tool_state: MessageBody<"tool_call_state">;
  /** A call waits for our permission. Needs `features: ["permissions"]`. Comes again, same id, after a reconnect. */
  permission_request: MessageBody<"permission_request">;
  /** A `permission_request` was answered, here or elsewhere, or has ended unanswered: close its dialog. */
  permission_closed: PermissionClosedEvent;
  error: ErrorEvent;
  /** Every message of the worker, those with an event of their own included. */
  message: Message;
}
