import { SpanKind, SpanStatusCode, type Attributes, type Context } from "@opentelemetry/api";
import { toolUseId } from "../../conversation/block.ts";
import { isRecord } from "../../lib/json.ts";
import { type ModelBlock } from "../../llm/model-event.ts";
import { ATTR, CONTENT, OPERATION, PARLEY } from "../../telemetry/names.ts";
import { capturesSpans, type Telemetry } from "../../telemetry/telemetry.ts";
import { type TurnTrace } from "./turn-trace.ts";

/** A tool at work on Anthropic's side. */
export interface OpenServerTool {
  /** Without a result the answer never came. */
  readonly end: (result?: ModelBlock) => void;
}

const USES: ReadonlySet<string> = new Set(["server_tool_use", "mcp_tool_use"]);
const RESULTS: ReadonlySet<string> = new Set(["server_tool_result", "mcp_tool_result"]);

/** `execute_tool` spans of Anthropic's own tools, from the model's use to the result in its reply. */
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
    const id = toolUseId(block);
    if (id === undefined) return;
    if (USES.has(block.blockType)) this.#turn.serverTools.set(id, this.#begin(id, block));
    if (!RESULTS.has(block.blockType)) return;
    this.#turn.serverTools.get(id)?.end(block);
    this.#turn.serverTools.delete(id);
  }

  #begin(id: string, { content }: ModelBlock): OpenServerTool {
    const { tracer, instruments, convention, agentName } = this.#telemetry;
    const name = nameOf(content?.["tool_name"] ?? content?.["name"]);
    const startedAt = Date.now();
    const startedTick = performance.now();
    this.#turn.serverToolTimings.set(id, { startedAt });
    const attributes: Attributes = {
      [ATTR.operation]: OPERATION.executeTool,
      [ATTR.toolName]: name,
      [ATTR.toolType]: "extension",
      [ATTR.toolCallId]: id,
      ...(convention === "latest" && { [ATTR.agentName]: agentName }),
    };
    const options = { kind: SpanKind.INTERNAL, attributes };
    const span = tracer.startSpan(`${OPERATION.executeTool} ${name}`, options, this.#context);
    const isCaptured = capturesSpans(this.#telemetry) && span.isRecording();
    if (isCaptured) span.setAttribute(CONTENT.callArguments, JSON.stringify(content?.["input"] ?? {}));
    return {
      end: (result) => {
        const outcome = result === undefined ? "cancelled" : isError(result) ? "error" : "success";
        const failure = outcome === "error" ? { [ATTR.errorType]: "execution_error" } : {};
        span.setAttributes({ ...failure, [PARLEY.outcome]: outcome });
        if (outcome === "error") span.setStatus({ code: SpanStatusCode.ERROR });
        if (isCaptured && result)
          span.setAttribute(CONTENT.callResult, JSON.stringify(result.content?.["content"] ?? {}));
        span.end();
        const durationMs = performance.now() - startedTick;
        if (result) this.#turn.serverToolTimings.set(id, { startedAt, durationMs: Math.round(durationMs) });
        instruments.executeToolDuration.record(durationMs / 1_000, { [ATTR.toolName]: name, ...failure });
      },
    };
  }
}

function nameOf(name: unknown): string {
  return typeof name === "string" ? name : "unknown";
}

/** Anthropic's results say it by the type of what they hold, MCP's by a flag. */
function isError({ content }: ModelBlock): boolean {
  const held = content?.["content"];
  const type = isRecord(held) ? held["type"] : undefined;
  return content?.["is_error"] === true || (typeof type === "string" && type.endsWith("_error"));
}
