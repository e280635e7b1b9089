import { SpanKind, SpanStatusCode, type Attributes, type Context } from "@opentelemetry/api";
import type { ModelBlock } from "../../llm/model-event.ts";
import { ATTR, CONTENT, OPERATION, PARLEY } from "../../telemetry/names.ts";
import { quietly } from "../../telemetry/quietly.ts";
import { toToolHalf, type ServerCall } from "../../telemetry/representation/tool-half.ts";
import { capturesSpans, type Telemetry } from "../../telemetry/telemetry.ts";
import { toolLabel } from "../../telemetry/labels.ts";
import type { OpenServerTool, TurnTrace } from "./turn-trace.ts";

/** The `execute_tool` spans of Anthropic's server tools, from the model's tool use to the result in its reply. */
export class ServerToolTraces {
  readonly #telemetry: Telemetry;
  readonly #turn: TurnTrace;
  readonly #context: Context;

  constructor(telemetry: Telemetry, turn: TurnTrace, context: Context) {
    this.#telemetry = telemetry;
    this.#turn = turn;
    this.#context = context;
  }

  watch(block: ModelBlock): void {
    const half = toToolHalf(block);
    if (half?.kind === "server_call") this.#handleCall(half, block);
    if (half?.kind !== "server_response" || half.id === undefined) return;
    const { serverTools } = this.#turn;
    const open = serverTools.get(half.id);
    serverTools.delete(half.id);
    open?.end({ block, isError: half.isError });
  }

  /**
   * Starts a tool use's span. A result belongs to the first use with its id. The span of a later use with the same id,
   * or of a use without an id, ends at once.
   */
  #handleCall(call: ServerCall, block: ModelBlock): void {
    const { serverTools } = this.#turn;
    const begun = this.#begin(call, block);
    if (call.id === undefined || serverTools.has(call.id)) begun.end();
    else serverTools.set(call.id, begun);
  }

  #begin(call: ServerCall, { content }: ModelBlock): OpenServerTool {
    const { id } = call;
    const { tracer, instruments, convention, agentName } = this.#telemetry;
    const { serverToolTimings: timings, ownTools } = this.#turn;
    const name = call.name || call.details.type;
    const startedAt = Date.now();
    const startedTick = performance.now();
    if (id !== undefined && !timings.has(id)) timings.set(id, { startedAt });
    const attributes: Attributes = {
      [ATTR.operation]: OPERATION.executeTool,
      [ATTR.toolName]: name,
      [ATTR.toolType]: "extension",
      ...(id !== undefined && { [ATTR.toolCallId]: id }),
      ...(convention === "latest" && { [ATTR.agentName]: agentName }),
    };
    const options = { kind: SpanKind.INTERNAL, attributes };
    const span = tracer.startSpan(`${OPERATION.executeTool} ${name}`, options, this.#context);
    const isCaptured = capturesSpans(this.#telemetry) && span.isRecording();
    if (isCaptured) span.setAttribute(CONTENT.callArguments, JSON.stringify(content?.["input"] ?? {}));
    return {
      end: (result) => {
        const outcome = result === undefined ? "cancelled" : result.isError ? "error" : "success";
        const failure = outcome === "error" ? { [ATTR.errorType]: "execution_error" } : {};
        span.setAttributes({ ...failure, [PARLEY.outcome]: outcome });
        if (outcome === "error") span.setStatus({ code: SpanStatusCode.ERROR });
        if (isCaptured && result)
          span.setAttribute(CONTENT.callResult, JSON.stringify(result.block.content?.["content"] ?? {}));
        quietly(() => span.end());
        const durationMs = performance.now() - startedTick;
        if (result && id !== undefined) timings.set(id, { startedAt, durationMs: Math.round(durationMs) });
        instruments.executeToolDuration.record(durationMs / 1_000, {
          [ATTR.toolName]: toolLabel(name, ownTools),
          ...failure,
        });
      },
    };
  }
}
