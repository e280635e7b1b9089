import { z } from "zod";
import { isTool, type Tool, type ToolContext } from "../../src/tool/define-tool.ts";

/** What a test may set for a call. Everything else has a default. */
export interface Call {
  readonly settings?: unknown;
  readonly signal?: AbortSignal;
  readonly log?: (line: string) => void;
  readonly traceHeaders?: ToolContext["traceHeaders"];
  readonly permitted?: readonly string[];
}

/** Runs a tool as the worker does: validates settings and input with the tool's own schemas, then calls `run`. */
export async function runTool(tool: Tool, input: unknown, call: Call = {}): Promise<unknown> {
  const context: ToolContext = {
    settings: z.instanceof(z.ZodType).optional().parse(tool.settings)?.parse(call.settings),
    signal: call.signal ?? new AbortController().signal,
    callId: "call",
    idempotencyKey: "key",
    participant: "alice",
    room: "room",
    roomSid: "RM_1",
    sessionId: "session",
    session: { get: () => ({}), set: () => {}, update: () => {} },
    agent: "default",
    attributes: {},
    log: call.log ?? (() => {}),
    progress: () => {},
    ask: () => Promise.resolve(),
    elicit: () => Promise.resolve({ action: "cancel" }),
    traceHeaders: call.traceHeaders ?? {},
    ...(call.permitted && { permitted: call.permitted }),
  };
  if (!isTool(tool) || tool.run === undefined) throw new TypeError("This tool has no run");
  const run = tool.run as (input: unknown, context: ToolContext) => unknown;
  return await run(z.instanceof(z.ZodType).parse(tool.input).parse(input), context);
}
