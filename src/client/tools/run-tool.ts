import { abortable } from "../../lib/abortable.ts";
import { truncateText } from "../../lib/truncate-text.ts";
import { TOOL_TIMES } from "../../protocol/limits.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import { partsOf } from "../../protocol/tool-result.ts";
import { type CompiledTool, ToolError, type ToolContext, wrapResult } from "./client-tool.ts";

export type ToolResult = MessageBody<"tool_use_result">;

const MAX_MESSAGE_BYTES = 8_192;

interface ToolRun {
  readonly request: MessageBody<"tool_use_request">;
  readonly traceparent: string | undefined;
  /** Aborts when the worker cancels the call or the client closes. The reason is an `Error`. */
  readonly cancelled: AbortSignal;
  readonly log: ToolContext["log"];
  readonly progress: ToolContext["progress"];
}

/** Runs one request and returns its result. Uses the error messages that the protocol specifies. Never rejects. */
export async function runTool(tool: CompiledTool, run: ToolRun): Promise<ToolResult> {
  const { request, cancelled } = run;
  const { id } = request;
  const timeoutMs = Math.min(request.timeoutMs || TOOL_TIMES.defaultTimeoutMs, TOOL_TIMES.maxTimeoutMs);
  const timeout = new AbortController();
  const timeoutMessage = `Tool execution exceeded timeout of ${timeoutMs}ms`;
  const timer = setTimeout(() => timeout.abort(new Error(timeoutMessage)), timeoutMs);
  const signal = AbortSignal.any([cancelled, timeout.signal]);
  try {
    return { id, ...(await abortable(execute(tool, run, signal), signal)) };
  } catch (error) {
    if (cancelled.aborted) return failed(id, "cancelled", messageOf(cancelled.reason));
    if (timeout.signal.aborted) return failed(id, "timeout", timeoutMessage);
    const { code, result } = error instanceof ToolError ? error : { code: "execution_error", result: undefined };
    return { ...failed(id, code, messageOf(error)), ...(result && { result: { ...result } }) };
  } finally {
    clearTimeout(timer);
  }
}

async function execute(tool: CompiledTool, run: ToolRun, signal: AbortSignal): Promise<Omit<ToolResult, "id">> {
  const { request, traceparent, log, progress } = run;
  const input = await tool.parse(request.parameters);
  if ("problem" in input) return { success: false, errorCode: "invalid_parameters", errorMessage: input.problem };
  signal.throwIfAborted();
  const value = await tool.run(input.value, {
    signal,
    callId: request.id,
    ...(request.participant !== undefined && { participant: request.participant }),
    ...(traceparent !== undefined && { traceparent }),
    log,
    progress,
  });
  const parts = partsOf(value);
  if (!parts) return { success: true, result: wrapResult(value) };
  const { result, content, display } = parts;
  const more: object = { ...(content && { content }), ...(display && { display }) };
  return { success: true, result: wrapResult(result), ...more };
}

export function failed(id: string, errorCode: string, errorMessage: string): ToolResult {
  return { id, success: false, errorCode, errorMessage };
}

function messageOf(error: unknown): string {
  return truncateText(errorText(error) || "The tool failed without a message", MAX_MESSAGE_BYTES);
}

function errorText(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return "";
  }
}
