import { type AppError } from "../errors/app-error.ts";
import { type Message, type MessageBody } from "../protocol/messages/messages.ts";

/** A tool call that we heard of. */
export interface ToolCallEvent {
  readonly id: string;
  /** The answer that it belongs to. */
  readonly messageId: string;
  readonly toolName: string;
  readonly parameters: MessageBody<"tool_use_request">["parameters"];
  readonly ranBy: ToolRunner;
  /** Whose turn it is, where we are asked in another's. */
  readonly participant?: string;
}

/** `client` is this client: what other participants run is not reported to us. */
export type ToolRunner = "client" | "server";

export type ToolResultEvent = MessageBody<"tool_use_result"> & {
  readonly toolName: string | undefined;
  readonly ranBy: ToolRunner;
};

/** What went wrong: an ErrorMessage of the worker, or our own trouble with `error` set. */
export interface ErrorEvent {
  /** As in docs/protocol.md, under Error codes. */
  readonly code: number;
  readonly message: string;
  /** The id of the message that it is about. */
  readonly originatingId?: string;
  readonly error?: AppError;
}

export interface PermissionClosedEvent {
  /** The request's. */
  readonly id: string;
  readonly state: "approved" | "rejected" | "expired" | "withdrawn";
}

export interface AnswerEndEvent {
  /** The answer's id. */
  readonly id: string;
  /** The id of the message that it answers. */
  readonly previousId: string;
  readonly text: string;
  readonly sentences: readonly string[];
}

/** What `parley.on` can tell. */
export interface ParleyEvents {
  /** A worker has acknowledged our Configuration: messages and tool calls flow. Again after each reconnect. */
  connected: { readonly agents: readonly string[] };
  /** No agent is in the room any more, or we are not. Tools stay registered, and open calls run on. */
  disconnected: { readonly reason: "room" | "agent" };
  configuration: MessageBody<"configuration">;
  transcription: MessageBody<"transcription">;
  answer_start: MessageBody<"start_answer">;
  sentence: MessageBody<"assistant_sentence">;
  answer_end: AnswerEndEvent;
  tool_call: ToolCallEvent;
  tool_result: ToolResultEvent;
  /** A whole ToolCallState, of any call of the session. Needs `features: ["tool_call_state"]`. */
  tool_state: MessageBody<"tool_call_state">;
  /** A call waits for us; only with the feature `permissions`. Comes again, with the same id, after a reconnect. */
  permission_request: MessageBody<"permission_request">;
  /** It waits no longer, whoever has answered and by whatever way, or nobody: its dialog can be closed. */
  permission_closed: PermissionClosedEvent;
  error: ErrorEvent;
  /** Every message of the worker, those with an event of their own included. */
  message: Message;
}
