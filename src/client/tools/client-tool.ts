import { refuseUnknownFields } from "../../lib/checks/did-you-mean.ts";
import { isRecord, type JsonObject } from "../../lib/json.ts";
import { TOOL_NAME } from "../../protocol/limits.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import { compileInput, type ParsedInput, type StandardInput } from "./tool-input.ts";

/** The second argument of a tool's `run`. */
export interface ToolContext {
  /** Aborts on timeout, when the worker cancels the call, and on `close`. Pass it to everything that waits. */
  readonly signal: AbortSignal;
  /** The call's id, equal to the id of its request. */
  readonly callId: string;
  /** Identity of the participant whose turn it is. Absent in our own turns. */
  readonly participant?: string;
  /** The call's span in the worker (W3C Trace Context), as parent for your spans. Absent when none is recorded. */
  readonly traceparent?: string;
  /** Adds a line to the call's log in the worker. */
  readonly log: (line: string) => void;
  /** Reports progress, from 0 to 1. Does not extend the timeout. */
  readonly progress: (fraction: number) => void;
}

/** A tool that runs in this client. */
export interface ClientTool<Input = JsonObject> {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  /** Tells the model when to use the tool. At most 2,000 characters. */
  readonly description: string;
  /** A zod object, any Standard Schema with Standard JSON Schema, or a JSON Schema. The root must be an object. */
  readonly input: StandardInput<Input> | JsonObject;
  /** How long a call may take, in ms, at most 600000. Announced to the worker. @defaultValue 30000 */
  readonly timeoutMs?: number;
  /** `either` lets the worker run its own tool of this name instead. @defaultValue "client" */
  readonly execution?: "client" | "either";
  /**
   * Whose turns may use the tool: only this participant's (`own`), or every participant's (`room`; see
   * `ToolContext.participant`). @defaultValue "own"
   */
  readonly scope?: "own" | "room";
  /** Whether the tool changes nothing. @defaultValue false */
  readonly readOnly?: boolean;
  /**
   * Runs a call. A returned plain object is sent as the result, `undefined` and `null` as `{}`, and any other value as
   * `{ value }`. A thrown error becomes an error result.
   */
  readonly run: (input: Input, context: ToolContext) => unknown;
}

/**
 * Thrown by a tool to set the error code that the model sees, and to add a partial result.
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

/** The worker rejects longer descriptions. */
const MAX_DESCRIPTION_LENGTH = 2_000;

type Announcement = NonNullable<MessageBody<"configuration">["tools"]>[number];

/** A validated tool with its announcement. */
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

/** @throws {TypeError} for an invalid or unknown field */
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

/** Converts a tool's return value to an object, because a result must be an object. */
export function wrapResult(value: unknown): Record<string, never> {
  if (value === undefined || value === null) return {};
  return (isPlain(value) ? value : { value }) as Record<string, never>;
}

function isPlain(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
