import type { Execution, OnInterrupt, StateDetail } from "../conversation/call.ts";
import { TOOL_TIMES } from "../protocol/limits.ts";
import type { Tool, ToolContext, ToolPermission } from "./define-tool.ts";
import { type InputSchema, compileInputSchema } from "./input-schema.ts";
import { type Pacing, toPacing } from "./pacing.ts";

/** What happens to a call that repeats an earlier call in the same turn. */
type OnDuplicate = "allow" | "reuse" | "reject";

/** A tool from the `tools/` folder or from an MCP server, with its name and compiled schema. */
export interface ServerTool {
  readonly name: string;
  readonly description: string;
  readonly input: InputSchema;
  readonly execution: Execution;
  /**
   * Whose device may run the tool. `own`: only the device of the turn's participant. `room`: also the device of anyone
   * who announced the tool for the room.
   * @defaultValue "own"
   */
  readonly scope?: "own" | "room";
  readonly timeoutMs: number | undefined;
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  readonly onInterrupt: OnInterrupt;
  readonly pacing: Pacing;
  /** Whether participants can interrupt the answer once a call has started. @defaultValue true */
  readonly interruptible?: boolean;
  /** @defaultValue "allow" */
  readonly onDuplicate?: OnDuplicate;
  /** @defaultValue "full" */
  readonly stateDetail?: StateDetail;
  readonly permission?: ToolPermission<unknown>;
  /** @defaultValue true */
  readonly voiceApproval?: boolean;
  /** @defaultValue false */
  readonly allowEditedInput?: boolean;
  /** Whether the tool is offered only once turns have been dropped from the context window. @defaultValue false */
  readonly onlyAfterCompaction?: boolean;
  /**
   * If set, a successful call ends the turn: the model writes nothing more in it. The function is then called with the
   * turn's participant, and again if another worker resumes a turn that was about to end. @defaultValue the model
   * continues
   */
  readonly endTurn?: (participant: string) => void;
  /** The name of the MCP server that provides the tool. */
  readonly mcpServer?: string;
  /**
   * Whether the tool's MCP server is disconnected. Then the tool is not offered, and a call that arrives anyway fails
   * at once.
   */
  readonly isDisconnected?: () => boolean;
  /** Runs the tool, with its settings added to the context. Absent for a tool that only clients run. */
  readonly run?: (input: unknown, context: Omit<ToolContext, "settings">) => unknown;
}

/** Allowed values. They are checked when tools are loaded, because their files may not have been type-checked. */
const EXECUTIONS: readonly Execution[] = ["server", "client", "either"];
const SCOPES = ["own", "room"] as const;
const ON_INTERRUPT: readonly OnInterrupt[] = ["finish", "cancel", "block"];
const ON_DUPLICATE: readonly OnDuplicate[] = ["allow", "reuse", "reject"];
/** Fields that must be booleans. Without a check, a string such as "false" would count as true. */
const BOOLEANS = [
  "isolate",
  "readOnly",
  "idempotent",
  "needsSettings",
  "voiceApproval",
  "allowEditedInput",
  "interruptible",
] as const;
export const STATE_DETAILS = ["full", "name", "off"] as const satisfies readonly StateDetail[];

/** @throws {TypeError} naming the invalid field of the definition */
export function toServerTool(name: string, tool: Tool, rawSettings: unknown): ServerTool {
  const { description, run, timeoutMs, execution = "server" } = tool;
  if (typeof description !== "string" || description.trim() === "")
    throw new TypeError("description: expected a non-empty string");
  if (timeoutMs !== undefined && !isTimeout(timeoutMs)) {
    throw new TypeError(`timeoutMs: expected an integer from 1 to ${TOOL_TIMES.maxTimeoutMs}, got ${timeoutMs}`);
  }
  if (!EXECUTIONS.includes(execution)) throw new TypeError(`execution: expected one of ${EXECUTIONS.join(", ")}`);
  if (tool.scope !== undefined && !SCOPES.includes(tool.scope))
    throw new TypeError(`scope: expected one of ${SCOPES.join(", ")}`);
  if (tool.onInterrupt !== undefined && !ON_INTERRUPT.includes(tool.onInterrupt))
    throw new TypeError(`onInterrupt: expected one of ${ON_INTERRUPT.join(", ")}`);
  if (tool.onDuplicate !== undefined && !ON_DUPLICATE.includes(tool.onDuplicate))
    throw new TypeError(`onDuplicate: expected one of ${ON_DUPLICATE.join(", ")}`);
  if (tool.stateDetail !== undefined && !STATE_DETAILS.includes(tool.stateDetail))
    throw new TypeError(`stateDetail: expected one of ${STATE_DETAILS.join(", ")}`);
  if (execution !== "client" && typeof run !== "function") throw new TypeError("run: expected a function");
  for (const field of BOOLEANS)
    if (tool[field] !== undefined && typeof tool[field] !== "boolean")
      throw new TypeError(`${field}: expected true or false`);
  if (tool.permission !== undefined) checkPermission(tool.permission);
  if (tool.permission === undefined && (tool.voiceApproval ?? tool.allowEditedInput) !== undefined)
    throw new TypeError("permission: required when voiceApproval or allowEditedInput is set");
  const settings: unknown = tool.settings
    ? parseSettings(tool.sharedSettings ?? name, tool.settings, rawSettings)
    : undefined;
  if (!tool.settings && rawSettings !== undefined)
    throw new TypeError(`toolSettings.${name}: this tool has no settings`);
  const readOnly = tool.readOnly ?? false;
  return {
    name,
    description,
    input: compileInputSchema(tool.input),
    execution,
    ...(tool.scope !== undefined && { scope: tool.scope }),
    timeoutMs,
    readOnly,
    idempotent: tool.idempotent ?? readOnly,
    pacing: toPacing(tool),
    ...(tool.interruptible !== undefined && { interruptible: tool.interruptible }),
    onInterrupt: tool.onInterrupt ?? (readOnly ? "cancel" : "finish"),
    ...(tool.onDuplicate !== undefined && { onDuplicate: tool.onDuplicate }),
    ...(tool.stateDetail !== undefined && { stateDetail: tool.stateDetail }),
    ...(tool.permission && { permission: withSettings(tool.permission, settings) }),
    ...(tool.voiceApproval !== undefined && { voiceApproval: tool.voiceApproval }),
    ...(tool.allowEditedInput !== undefined && { allowEditedInput: tool.allowEditedInput }),
    ...(run && { run: (input, context) => run(input as never, { ...context, settings } as never) }),
  };
}

function checkPermission({ type, pattern, ignoresCase, title, metadata }: ToolPermission<never, never>): void {
  if (typeof type !== "string" || type === "") throw new TypeError("permission.type: expected a non-empty string");
  if (typeof pattern !== "function") throw new TypeError("permission.pattern: expected a function");
  if (ignoresCase !== undefined && typeof ignoresCase !== "function")
    throw new TypeError("permission.ignoresCase: expected a function");
  if (typeof title !== "function") throw new TypeError("permission.title: expected a function");
  if (metadata !== undefined && typeof metadata !== "function")
    throw new TypeError("permission.metadata: expected a function");
}

function withSettings(permission: NonNullable<Tool["permission"]>, settings: unknown): ToolPermission<unknown> {
  const { type, pattern, ignoresCase, title, metadata } = permission as unknown as ToolPermission<unknown>;
  return {
    type,
    pattern: (input) => pattern(input, settings),
    ...(ignoresCase && { ignoresCase: (input) => ignoresCase(input, settings) }),
    title,
    ...(metadata && { metadata }),
  };
}

function isTimeout(timeoutMs: number): boolean {
  return Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= TOOL_TIMES.maxTimeoutMs;
}

function parseSettings(name: string, schema: NonNullable<Tool["settings"]>, value: unknown): unknown {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new TypeError(`${["toolSettings", name, ...(issue?.path ?? [])].join(".")}: ${issue?.message ?? "is invalid"}`);
}

/** Tools that come and go while sessions run. */
export interface LiveTools {
  /** The name of every such tool begins with one of these prefixes. */
  readonly prefixes: readonly string[];
  /** Calls the listener when tools have changed. The returned function removes the listener. */
  readonly onChanged: (listener: () => void) => () => void;
}
