import type { JsonObject, JsonValue } from "../../lib/json.ts";

/** The request to a tool, or its response. The other fields depend on `type`. */
export interface ToolDetails extends JsonObject {
  readonly type: string;
}

/** `failed`: the response is an error. `incomplete`: there is no response. */
export type ExecutionStatus = "completed" | "failed" | "incomplete";

interface Identified {
  /** Absent if the stored block has no id. */
  readonly id?: string;
}

export interface TextPart {
  readonly type: "text";
  readonly content: string;
}

export interface ReasoningPart {
  readonly type: "reasoning";
  readonly content: string;
  /** Present only when true; then `content` is empty. */
  readonly redacted?: true;
}

/** Base64-encoded bytes. */
export interface BlobPart {
  readonly type: "blob";
  readonly modality: string;
  readonly mime_type?: string;
  readonly content: string;
}

export interface FilePart {
  readonly type: "file";
  readonly modality: string;
  readonly file_id: string;
}

export interface UriPart {
  readonly type: "uri";
  readonly modality: string;
  readonly uri: string;
}

export interface CompactionPart {
  readonly type: "compaction";
  readonly content?: string;
}

/**
 * A tool call. Calls of function tools have `arguments`. In Option 1 (`representationSchema`), calls of all tools have
 * `tool_call`.
 */
export interface ToolCallRequestPart extends Identified {
  readonly type: "tool_call";
  readonly name: string;
  readonly arguments?: JsonValue;
  readonly tool_call?: ToolDetails;
}

export interface ToolCallResponsePart extends Identified {
  readonly type: "tool_call_response";
  readonly response: JsonValue;
  /** Present only when true. */
  readonly is_error?: true;
}

export interface ServerToolCallPart extends Identified {
  readonly type: "server_tool_call";
  readonly name: string;
  readonly server_tool_call: ToolDetails;
}

export interface ServerToolCallResponsePart extends Identified {
  readonly type: "server_tool_call_response";
  readonly server_tool_call_response: ToolDetails;
}

export interface ServerToolPart extends Identified {
  readonly type: "server_tool";
  readonly name: string;
  readonly tool_call?: ToolDetails;
  readonly tool_response?: ToolDetails;
  readonly status: ExecutionStatus;
}

export interface ServerToolExecutionPart extends Identified {
  readonly type: "server_tool_execution";
  readonly name: string;
  readonly request?: ToolDetails;
  readonly response?: ToolDetails;
  readonly execution_metadata: {
    readonly status: ExecutionStatus;
    readonly duration_ms?: number;
    /** When the call began (RFC 3339). */
    readonly timestamp?: string;
  };
}

/** A block that fits no other part, with its own `type`. */
export interface GenericPart extends JsonObject {
  readonly type: string;
}

export type MessagePart =
  | TextPart
  | ReasoningPart
  | BlobPart
  | FilePart
  | UriPart
  | CompactionPart
  | ToolCallRequestPart
  | ToolCallResponsePart
  | ServerToolCallPart
  | ServerToolCallResponsePart
  | ServerToolPart
  | ServerToolExecutionPart
  | GenericPart;
