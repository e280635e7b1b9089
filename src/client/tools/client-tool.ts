import { refuseUnknownFields } from "../../lib/checks/did-you-mean.ts";
import { isRecord, type JsonObject } from "../../lib/json.ts";
import { TOOL_NAME } from "../../protocol/limits.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import { compileInput, type ParsedInput, type StandardInput } from "./tool-input.ts";

/** What a running tool is given besides its input. */
export interface ToolContext {
  /** Aborts on the timeout, when the worker cancels the call, and on `close`. Pass it on to whatever waits. */
  readonly signal: AbortSignal;
  /** The call's id, which is the request's. */
  readonly callId: string;
  /** Identity of the participant whose turn it is; absent in our own turns. */
  readonly participant?: string;
  /** The call's span in the worker (W3C Trace Context), as a parent for your spans; absent when none is recorded. */
  readonly traceparent?: string;
  /** Adds a line to the call's record at the worker. */
  readonly log: (line: string) => void;
  /** Tells how far the call is, from 0 to 1. This moves no deadline. */
  readonly progress: (fraction: number) => void;
}

/** A tool that runs in this client. */
export interface ClientTool<Input = JsonObject> {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  /** What the model reads to decide when to use the tool; at most 2,000 characters. */
  readonly description: string;
  /** A zod object, another Standard Schema that has Standard JSON Schema, or a JSON Schema. The root is an object. */
  readonly input: StandardInput<Input> | JsonObject;
  /** Announced to the worker: how long a call may take, in ms, at most 600000. @defaultValue 30000 */
  readonly timeoutMs?: number;
  /** `either`: the worker may run its own tool of this name instead. @defaultValue "client" */
  readonly execution?: "client" | "either";
  /**
   * In whose turns the model may use the tool: in this participant's (`own`), or in every participant's (`room`; see
   * `ToolContext.participant`). @defaultValue "own"
   */
  readonly scope?: "own" | "room";
  /** Whether the tool changes nothing anywhere. @defaultValue false */
  readonly readOnly?: boolean;
  /** A plain object is sent as it is, nothing as `{}`, any other value as `{value}`. A throw is an error result. */
  readonly run: (input: Input, context: ToolContext) => unknown;
}

/**
 * Thrown by a tool to choose the error code that the model is told, and to add a partial result.
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

/** A longer description is refused by the worker. */
const MAX_DESCRIPTION_LENGTH = 2_000;

type Announcement = NonNullable<MessageBody<"configuration">["tools"]>[number];

/** A checked tool, with its announcement. */
export interface CompiledTool {
  readonly name: string;
  readonly announcement: Announcement;
  readonly parse: (input: unknown) => Promise<ParsedInput>;
  readonly run: (input: unknown, context: ToolContext) => unknown;
}

const FIELDS: Readonly<Record<keyof ClientTool, readonly string[] | true>> = {
  name: true,
  description: true,
  input: true,
  timeoutMs: true,
  execution: ["client", "either"],
  scope: ["own", "room"],
  readOnly: true,
  run: true,
};

/** @throws {TypeError} when a field of the tool cannot be used, or a tool has no such field */
export function compileTool<Input>(tool: ClientTool<Input>): CompiledTool {
  refuseUnknownFields(tool, Object.keys(FIELDS), "registerTool");
  const { name, description, input, timeoutMs, execution, scope, readOnly, run } = tool;
  if (!TOOL_NAME.test(name)) throw new TypeError(`The tool name "${name}" does not match ${TOOL_NAME}`);
  if (timeoutMs !== undefined && !(Number.isInteger(timeoutMs) && timeoutMs > 0)) {
    throw new TypeError(`Tool "${name}": timeoutMs: expected a positive integer`);
  }
  if (description.length > MAX_DESCRIPTION_LENGTH) {
    throw new TypeError(`Tool "${name}": description: expected at most ${MAX_DESCRIPTION_LENGTH} characters`);
  }
  for (const field of ["execution", "scope"] as const) {
    const words = FIELDS[field];
    if (tool[field] !== undefined && words !== true && !words.includes(tool[field]))
      throw new TypeError(`Tool "${name}": ${field}: expected one of ${words.join(", ")}`);
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

/** Makes the map that a result must be. */
export function wrapResult(value: unknown): Record<string, never> {
  if (value === undefined || value === null) return {};
  return (isPlain(value) ? value : { value }) as Record<string, never>;
}

function isPlain(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
