import { AppError } from "../../errors/app-error.ts";
import { truncateText } from "../../lib/truncate-text.ts";
import type { MalformedMessageError } from "../../protocol/messages/parse-message.ts";
import type { MessageBody } from "../../protocol/messages/messages.ts";
import type { CompiledTool } from "./client-tool.ts";
import type { ToolCallEvent, ToolResultEvent } from "../client-events.ts";
import type { ProgressSender } from "./progress-sender.ts";
import { ResultStore } from "./result-store.ts";
import { failed, runTool, type ToolResult } from "./run-tool.ts";

type Request = MessageBody<"tool_use_request">;

export interface ToolRequestPorts {
  readonly findTool: (name: string) => CompiledTool | undefined;
  /**
   * Sends a result and returns the size of its envelope in bytes. @throws {AppError} when the result cannot be encoded
   */
  readonly sendResult: (result: ToolResult, traceparent?: string) => number;
  /** Claims or declines an `either` request by acknowledging its stanza. */
  readonly acknowledge: (stanzaId: number, isTaken: boolean) => void;
  readonly progress: ProgressSender;
  readonly onCall: (call: ToolCallEvent) => void;
  readonly onResult: (result: ToolResultEvent) => void;
}

interface ReceivedRequest {
  readonly request: Request;
  readonly traceparent: string | undefined;
}

/**
 * The client's side of tool calls. Each request that this client accepts always gets exactly one result. A repeated
 * request gets the same result and does not run again.
 */
export class ToolRequests {
  readonly #ports: ToolRequestPorts;
  readonly #running = new Map<string, { readonly controller: AbortController; readonly ended: Promise<void> }>();
  readonly #results = new ResultStore();

  constructor(ports: ToolRequestPorts) {
    this.#ports = ports;
  }

  get runningCount(): number {
    return this.#running.size;
  }

  handle(request: Request, stanzaId: number, traceparent?: string): void {
    const { id, messageId, toolName, parameters, execution, participant } = request;
    const call = { id, messageId, toolName, parameters, ...(participant !== undefined && { participant }) };
    // Check this before the stored results: when the server takes over one of our calls, it repeats the request with
    // execution `server`.
    if (execution === "server") return this.#ports.onCall({ ...call, ranBy: "server" });
    const stored = this.#results.find(id);
    if (stored) return void this.#send(stored);
    const tool = this.#ports.findTool(toolName);
    if (execution === "either") this.#ports.acknowledge(stanzaId, this.#running.has(id) || tool !== undefined);
    if (this.#running.has(id) || (execution === "either" && !tool)) return;
    this.#ports.onCall({ ...call, ranBy: "client" });
    if (tool) this.#start(tool, { request, traceparent });
    else this.#settle(unknownTool(id, toolName), toolName);
  }

  /**
   * Answers a malformed request. Returns `false` if the request cannot be answered, because its id or `execution` is
   * unreadable.
   */
  refuse({ parts, message }: MalformedMessageError): boolean {
    const { id, request: { execution, toolName } = {} } = parts;
    if (execution === "server") return true;
    if (execution === undefined || id === undefined) return false;
    const stored = this.#results.find(id);
    if (stored) this.#send(stored);
    else if (!this.#running.has(id)) {
      const isKnown = this.#ports.findTool(toolName ?? "") !== undefined;
      this.#settle(isKnown ? failed(id, "invalid_parameters", message) : unknownTool(id, toolName ?? ""), toolName);
    }
    return true;
  }

  /**
   * Cancels a call at the worker's request: aborts the tool, and the result is `cancelled`. The cancellation can
   * overtake the request, because the request may be a stream. In that case, the request is not run when it arrives.
   */
  cancel({ id, reason }: MessageBody<"tool_use_cancel">): void {
    const message = `The worker cancelled the call (${reason})`;
    const running = this.#running.get(id);
    if (running) running.controller.abort(new Error(message));
    else if (!this.#results.find(id)) this.#results.add(failed(id, "cancelled", message), 0);
  }

  /** Aborts all running calls. Resolves when each call has its result, even if its tool ignores the abort. */
  async close(): Promise<void> {
    const running = [...this.#running.values()];
    for (const { controller } of running) controller.abort(new Error("The client was closed"));
    await Promise.all(running.map(({ ended }) => ended));
  }

  #start(tool: CompiledTool, asked: ReceivedRequest): void {
    const controller = new AbortController();
    this.#running.set(asked.request.id, { controller, ended: this.#run(tool, asked, controller) });
  }

  async #run(tool: CompiledTool, asked: ReceivedRequest, { signal: cancelled }: AbortController): Promise<void> {
    const { id } = asked.request;
    const { progress } = this.#ports;
    let isRunning = true;
    const result = await runTool(tool, {
      ...asked,
      cancelled,
      log: (line) => {
        if (isRunning) progress.log(id, line);
      },
      progress: (fraction) => {
        if (isRunning) progress.progress(id, fraction);
      },
    });
    isRunning = false;
    this.#running.delete(id);
    progress.flush(id);
    this.#settle(result, tool.name, asked.traceparent);
  }

  #settle(result: ToolResult, toolName: string | undefined, traceparent?: string): void {
    const { sizeBytes, sent } = this.#send(result, traceparent);
    this.#results.add(sent, sizeBytes);
    this.#ports.onResult({ ...sent, toolName, ranBy: "client" });
  }

  /** Sends a result. If it cannot be sent, sends an error result that says why. */
  #send(result: ToolResult, traceparent?: string): { sizeBytes: number; sent: ToolResult } {
    try {
      return { sizeBytes: this.#ports.sendResult(result, traceparent), sent: result };
    } catch (error) {
      const isTooLarge = error instanceof AppError && error.code === "too_large";
      const message = error instanceof AppError ? error.message : "reading it failed";
      const sent = isTooLarge
        ? failed(result.id, "result_too_large", `The result is too large to send: ${message}`)
        : failed(result.id, "execution_error", `The result cannot be encoded: ${message}`);
      return { sizeBytes: this.#ports.sendResult(sent, traceparent), sent };
    }
  }
}

/**
 * Returns the error result for an unknown tool. The protocol specifies its message. The name in the request may have
 * any length, so it is truncated.
 */
function unknownTool(id: string, toolName: string): ToolResult {
  return failed(id, "unknown_tool", `Tool '${truncateText(toolName, 256)}' is not supported by this client`);
}
