import { isRecord, type JsonObject } from "../../lib/json.ts";
import { TOOL_NAME } from "../../protocol/limits.ts";
import { type MessageBody } from "../../protocol/messages/messages.ts";
import { compileInput, type ParsedInput, type StandardInput } from "./tool-input.ts";

/** What a running tool is given besides its input. */
export interface ToolContext {
  /** Aborted on the timeout, on a cancel by the worker and on `close`; pass it on. */
  readonly signal: AbortSignal;
  /** The request's id: unique to this call. */
  readonly callId: string;
  /** Whose turn it is, as LiveKit knows that participant; absent in our own turns. */
  readonly participant?: string;
  /** The call's span at the worker (W3C Trace Context), for spans of your own; absent when it keeps no trace. */
  readonly traceparent?: string;
  /** Adds a line to the call's record at the worker. */
  readonly log: (line: string) => void;
  /** How far the call is, from 0 to 1. It moves no deadline. */
  readonly progress: (fraction: number) => void;
}

/** A tool that runs in this client. */
export interface ClientTool<Input = JsonObject> {
  /** What the model calls it: letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  /** What the model reads to decide when to use the tool. */
  readonly description: string;
  /** A zod object, or any Standard Schema that can say itself as JSON Schema; or a JSON Schema. The root is an object. */
  readonly input: StandardInput<Input> | JsonObject;
  /** What the worker is told to give a call. @defaultValue 30000; at most 600000 */
  readonly timeoutMs?: number;
  /** `either`: the worker may run its own tool of that name instead. @defaultValue "client" */
  readonly execution?: "client" | "either";
  /**
   * In whose turns the model may use it. `own`: in this participant's. `room`: in everybody's; the context says who asks
   * then. @defaultValue "own"
   */
  readonly scope?: "own" | "room";
  /** Changes nothing anywhere. @defaultValue false */
  readonly readOnly?: boolean;
  /** The answer: a map is sent as it is, anything else as `{value}`, nothing as `{}`. A throw is an error result. */
  readonly run: (input: Input, context: ToolContext) => unknown;
}

/**
 * Thrown by a tool to choose what the model is told: a code of its own, and a partial result beside the message.
 *
 * @example
 * throw new ToolError("no_access", "The folder is not shared", { result: { folder } });
 */
export class ToolError extends Error {
  readonly code: string;
  readonly result: JsonObject | undefined;

  constructor(code: string, message: string, { result, ...options }: ErrorOptions & { result?: JsonObject } = {}) {
    super(message, options);
    this.name = "ToolError";
    this.code = code;
    this.result = result;
  }
}

/** What the worker takes of one tool. */
const MAX_DESCRIPTION_LENGTH = 2_000;

type Announcement = NonNullable<MessageBody<"configuration">["tools"]>[number];

/** A tool that has been checked, with what is announced of it. */
export interface CompiledTool {
  readonly name: string;
  readonly announcement: Announcement;
  readonly parse: (input: unknown) => Promise<ParsedInput>;
  readonly run: (input: unknown, context: ToolContext) => unknown;
}

/** @throws {TypeError} when the name, the time or the schema cannot be used */
export function compileTool<Input>(tool: ClientTool<Input>): CompiledTool {
  const { name, description, input, timeoutMs, execution, scope, readOnly, run } = tool;
  if (!TOOL_NAME.test(name)) throw new TypeError(`The tool name "${name}" does not match ${TOOL_NAME}`);
  if (timeoutMs !== undefined && !(Number.isInteger(timeoutMs) && timeoutMs > 0)) {
    throw new TypeError(`Tool "${name}": timeoutMs: expected a positive integer`);
  }
  if (description.length > MAX_DESCRIPTION_LENGTH) {
    throw new TypeError(`Tool "${name}": description: expected at most ${MAX_DESCRIPTION_LENGTH} characters`);
  }
  const { inputSchema, parse } = compileInput(name, input);
  return {
    name,
    announcement: {
      name,
      description,
      inputSchema,
      ...(execution !== undefined && { execution }),
      ...(scope !== undefined && { scope }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(readOnly !== undefined && { annotations: { readOnlyHint: readOnly } }),
    },
    parse,
    run: (value, context) => run(value as Input, context),
  };
}

/** What a tool gave back, as a result must be. */
export function wrapResult(value: unknown): Record<string, never> {
  if (value === undefined || value === null) return {};
  return (isPlain(value) ? value : { value }) as Record<string, never>;
}

function isPlain(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
