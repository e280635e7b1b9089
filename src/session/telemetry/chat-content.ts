import type { Attributes, Context, Span } from "@opentelemetry/api";
import type { AnyValueMap } from "@opentelemetry/api-logs";
import { cleanJson } from "../../lib/clean-json.ts";
import type { ModelBlock } from "../../llm/model-event.ts";
import { CONTENT, EVENT } from "../../telemetry/names.ts";
import {
  toChatMessages,
  toOutputMessage,
  toSystemInstructions,
} from "../../telemetry/representation/to-chat-messages.ts";
import type { ToolTiming } from "../../telemetry/representation/tool-parts.ts";
import { toToolDefinitions } from "../../telemetry/representation/to-tool-definitions.ts";
import { capturesEvents, capturesSpans, type Telemetry } from "../../telemetry/telemetry.ts";
import type { ChatCall } from "../model/open-stream.ts";

interface Where {
  readonly finishReason: string;
  readonly context: Context;
  /** The event's attributes other than content. */
  readonly attributes: Attributes;
}

/**
 * Collects a model call's content for spans or events, as the operator has configured. If neither is configured,
 * nothing is collected.
 */
export class ChatContent {
  readonly #telemetry: Telemetry;
  readonly #call: ChatCall;
  readonly #timings: ReadonlyMap<string, ToolTiming>;
  readonly #blocks: ModelBlock[] = [];

  constructor(telemetry: Telemetry, call: ChatCall, timings: ReadonlyMap<string, ToolTiming>) {
    this.#telemetry = telemetry;
    this.#call = call;
    this.#timings = timings;
  }

  add(block: ModelBlock): void {
    if (this.#telemetry.capture !== "NO_CONTENT") this.#blocks.push(block);
  }

  write(span: Span, { finishReason, context, attributes }: Where): void {
    const onSpan = capturesSpans(this.#telemetry) && span.isRecording();
    const onEvent = capturesEvents(this.#telemetry);
    if (!onSpan && !onEvent) return;
    const content = this.#build(finishReason);
    if (onSpan) for (const [name, value] of Object.entries(content)) span.setAttribute(name, JSON.stringify(value));
    if (!onEvent) return;
    this.#telemetry.events.emit({
      eventName: EVENT.details,
      context,
      attributes: cleanJson({ ...attributes, ...content }) as AnyValueMap,
    });
  }

  #build(finishReason: string) {
    const { history, instructions, tools, serverTools } = this.#call;
    const options = { representation: this.#telemetry.representation, timings: this.#timings };
    return {
      [CONTENT.inputMessages]: toChatMessages(history, options),
      [CONTENT.outputMessages]: [toOutputMessage(this.#blocks, finishReason, options)],
      [CONTENT.systemInstructions]: toSystemInstructions(instructions),
      [CONTENT.toolDefinitions]: toToolDefinitions({ tools, serverTools }, { isDetailed: true }),
    };
  }
}
