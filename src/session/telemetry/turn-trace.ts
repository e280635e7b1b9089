import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanContext,
} from "@opentelemetry/api";
import type { ModelBlock } from "../../llm/model-event.ts";
import type { ErrorCode } from "../../errors/app-error.ts";
import type { TurnRecord, TurnState } from "../../conversation/turn-record.ts";
import { ATTR, OPERATION, PARLEY } from "../../telemetry/names.ts";
import type { ToolTiming } from "../../telemetry/representation/tool-parts.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import { quietly } from "../../telemetry/quietly.ts";
import { toFinishReason } from "../../telemetry/representation/to-chat-messages.ts";
import { toolLabel } from "../../telemetry/labels.ts";
import { usageAttributes } from "../../telemetry/usage.ts";
import type { TurnEnd, TurnEvent } from "../../turn/turn-event.ts";
import type { TurnSpoken } from "../events/session-event.ts";
import type { CallOptions } from "./call-trace.ts";

export interface ToolNames {
  readonly has: (name: string) => boolean;
}

interface TurnOptions {
  /** The participant's own span, which this trace continues. */
  readonly parent: SpanContext | undefined;
  readonly participant: string;
  readonly conversationId: string;
  readonly sessionId: string;
  readonly model: string;
  /** The tools that the operator configured. Only their names are used as metric labels. */
  readonly ownTools: ToolNames;
}

interface ServerToolResult {
  readonly block: ModelBlock;
  readonly isError: boolean;
}

/** One of Anthropic's server tools while it runs. */
export interface OpenServerTool {
  /** Ends the tool's span. Called without a result if none arrived. */
  readonly end: (result?: ServerToolResult) => void;
}

/** How a turn ended. A turn that could not be stored has failed, even if its last model call completed. */
interface End {
  readonly state: TurnState;
  readonly errorCode: ErrorCode | undefined;
}

/**
 * The `invoke_agent` span of one turn. The span ends when the turn's end is stored or, if the answer is spoken, when
 * the end of its speech is stored.
 */
export class TurnTrace {
  readonly context: Context;
  readonly ownTools: ToolNames;
  /**
   * Anthropic's server tools without a result yet, by tool use id. The result may arrive in a later model call, after a
   * pause.
   */
  readonly serverTools = new Map<string, OpenServerTool>();
  /** When Anthropic's server tools ran, by tool use id. Kept after their results arrive. */
  readonly serverToolTimings = new Map<string, ToolTiming>();
  /** Each tool's description by name, as the model saw it. */
  #descriptions: ReadonlyMap<string, string> = new Map();
  readonly #telemetry: Telemetry;
  readonly #span: Span;
  readonly #conversationId: string;
  readonly #startedAt = performance.now();
  #id: string | undefined;
  #modelCalls = 0;
  #toolCalls = 0;
  #lastResultAt: number | undefined;
  #end: TurnEnd | undefined;

  constructor(telemetry: Telemetry, { parent, participant, conversationId, sessionId, model, ownTools }: TurnOptions) {
    this.#telemetry = telemetry;
    this.#conversationId = conversationId;
    this.ownTools = ownTools;
    const from = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
    const attributes = {
      [ATTR.operation]: OPERATION.invokeAgent,
      ...(telemetry.convention === "1.41" && { [ATTR.provider]: "anthropic" }),
      [ATTR.agentName]: telemetry.agentName,
      [ATTR.conversationId]: conversationId,
      [ATTR.requestModel]: model,
      [PARLEY.sessionId]: sessionId,
      [PARLEY.participant]: participant,
    };
    const name = `${OPERATION.invokeAgent} ${telemetry.agentName}`;
    this.#span = telemetry.tracer.startSpan(name, { kind: SpanKind.INTERNAL, attributes }, from);
    this.context = trace.setSpan(from, this.#span);
  }

  /** Attributes of all spans of the turn. */
  get identity(): Attributes {
    return { [ATTR.conversationId]: this.#conversationId };
  }

  beginModelCall(tools: readonly { readonly name: string; readonly description: string }[]): void {
    this.#modelCalls++;
    this.#descriptions = new Map(tools.map(({ name, description }) => [name, description]));
    if (this.#lastResultAt === undefined) return;
    this.#telemetry.instruments.resultToModel.record((performance.now() - this.#lastResultAt) / 1_000);
    this.#lastResultAt = undefined;
  }

  beginToolCall(name: string): CallOptions {
    this.#toolCalls++;
    const label = toolLabel(name, this.ownTools);
    return { parent: this.context, description: this.#descriptions.get(name), label };
  }

  /** Known once the turn has started. */
  get id(): string | undefined {
    return this.#id;
  }

  watch(turn: TurnRecord, event: TurnEvent | TurnSpoken): void {
    if (event.type === "turn_start") {
      this.#id = turn.id;
      this.#span.setAttributes({ [PARLEY.turnId]: turn.id, [PARLEY.turnBegunBy]: whatBegan(turn) });
    }
    if (event.type === "turn_complete") this.#end = event;
    if (event.type === "block_stop" && event.block.blockType === "tool_result") this.#lastResultAt = performance.now();
  }

  /** @param end absent if a bug ended the turn */
  end(end: End = { state: "failed", errorCode: "internal" }): void {
    const { instruments, convention, agentName } = this.#telemetry;
    for (const { end: endTool } of this.serverTools.values()) quietly(endTool);
    this.serverTools.clear();
    const error = end.state === "failed" ? { [ATTR.errorType]: end.errorCode ?? "internal" } : {};
    const { stopReason, usage } = this.#end ?? {};
    const reason = end.state === "completed" ? stopReason : undefined;
    this.#span.setAttributes({
      ...error,
      [PARLEY.turnState]: end.state,
      [PARLEY.turnSteps]: this.#modelCalls,
      ...(stopReason !== undefined && { [PARLEY.stopReason]: stopReason }),
      [ATTR.finishReasons]: [toFinishReason(reason === "step_limit" ? "max_tokens" : reason)],
      ...(usage && usageAttributes(usage, { convention, hasCache: convention === "1.41" })),
    });
    if (end.state === "failed") this.#span.setStatus({ code: SpanStatusCode.ERROR });
    quietly(() => this.#span.end());
    const of = { [ATTR.agentName]: agentName };
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    instruments.invokeAgentDuration.record(seconds, { ...of, [PARLEY.turnState]: end.state, ...error });
    instruments.inferenceCalls.record(this.#modelCalls, of);
    instruments.toolCalls.record(this.#toolCalls, of);
  }
}

/**
 * Returns what began a turn. A turn that starts with a note instead of a message is a greeting or an idle message, and
 * was begun by the agent itself.
 */
function whatBegan({ parentMessageId, input }: TurnRecord): "message" | "agent" | "outcome" {
  if (parentMessageId !== null) return "message";
  return input.some(({ type }) => type === "note") ? "agent" : "outcome";
}
