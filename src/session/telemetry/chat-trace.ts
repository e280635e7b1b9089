import { type Attributes, type Context, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { SeverityNumber } from "@opentelemetry/api-logs";
import { TurnAbort } from "../../conversation/turn-abort.ts";
import { AppError } from "../../errors/app-error.ts";
import type { ModelRequest } from "../../llm/build-request.ts";
import { ModelError } from "../../llm/model-error.ts";
import type { ModelEvent, Usage } from "../../llm/model-event.ts";
import { ATTR, type Convention, EVENT, OPERATION, PARLEY } from "../../telemetry/names.ts";
import { quietly } from "../../telemetry/quietly.ts";
import { toFinishReason } from "../../telemetry/representation/to-chat-messages.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import { recordUsage, usageAttributes } from "../../telemetry/usage.ts";
import type { ChatCall } from "../model/open-stream.ts";
import { ChatContent } from "./chat-content.ts";
import { ServerToolTraces } from "./server-tool-traces.ts";
import type { TurnTrace } from "./turn-trace.ts";

/** The `chat` span of one model call, the spans of its server tool uses, and its metrics. */
export class ChatTrace {
  readonly #telemetry: Telemetry;
  readonly #span: Span;
  readonly #context: Context;
  /** Attributes of both the span and the metrics, known at the start. */
  readonly #identity: Attributes;
  readonly #content: ChatContent;
  readonly #serverTools: ServerToolTraces;
  readonly #startedAt = performance.now();
  #lastChunkAt: number | undefined;
  #responseModel: string | undefined;
  #usage: Usage | undefined;
  #stopReason: string | undefined;
  #hasEnded = false;

  constructor(telemetry: Telemetry, turn: TurnTrace, call: ChatCall) {
    this.#telemetry = telemetry;
    const { model } = call.request;
    const { address, port } = call.server ?? telemetry.server;
    this.#identity = {
      [ATTR.operation]: OPERATION.chat,
      [ATTR.provider]: "anthropic",
      [ATTR.requestModel]: model,
      [ATTR.serverAddress]: address,
      [ATTR.serverPort]: port,
    };
    const attributes = {
      ...this.#identity,
      ...requestAttributes(call.request, telemetry.convention),
      ...turn.identity,
    };
    const name = `${OPERATION.chat} ${model}`;
    this.#span = telemetry.tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, turn.context);
    this.#context = trace.setSpan(turn.context, this.#span);
    this.#content = new ChatContent(telemetry, call, turn.serverToolTimings);
    this.#serverTools = new ServerToolTraces(telemetry, turn, this.#context);
    turn.beginModelCall(call.tools);
  }

  watch(event: ModelEvent): void {
    switch (event.type) {
      case "retry":
        this.#span.addEvent(EVENT.retry, {
          [PARLEY.retryAttempt]: event.attempt,
          [PARLEY.retryDelay]: event.delayMs / 1_000,
          [ATTR.errorType]: event.reason,
        });
        return;
      case "message_start":
        this.#responseModel = event.model;
        this.#usage = event.usage;
        this.#span.setAttributes({ [ATTR.responseId]: event.id, [ATTR.responseModel]: event.model });
        return;
      case "block_start":
      case "block_delta":
        return this.#handleChunk();
      case "block_stop":
        this.#content.add(event.block);
        return this.#serverTools.watch(event.block);
      case "model_selected":
      case "model_failed":
        // Each model's call has its own span.
        return;
      case "message_stop":
        this.#usage = event.usage;
        this.#stopReason = event.stopReason;
        return this.#end({});
    }
  }

  /** Ends the span because the call failed or was aborted. An abort is not recorded as an error. */
  fail(error: unknown): void {
    this.#end(error instanceof TurnAbort ? {} : { [ATTR.errorType]: errorTypeOf(error) });
  }

  /** Ends the span because the reader stopped reading the stream. */
  abandon(): void {
    this.#end({});
  }

  #handleChunk(): void {
    const { instruments } = this.#telemetry;
    const now = performance.now();
    if (this.#lastChunkAt === undefined) {
      const seconds = (now - this.#startedAt) / 1_000;
      this.#span.setAttribute(ATTR.timeToFirstChunk, seconds);
      instruments.timeToFirstChunk.record(seconds, this.#measured());
    } else {
      instruments.timePerOutputChunk.record((now - this.#lastChunkAt) / 1_000, this.#measured());
    }
    this.#lastChunkAt = now;
  }

  #measured(): Attributes {
    return this.#responseModel === undefined
      ? this.#identity
      : { ...this.#identity, [ATTR.responseModel]: this.#responseModel };
  }

  #end(failure: Attributes): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { instruments, convention, events } = this.#telemetry;
    const finishReason = toFinishReason(this.#stopReason);
    const ended: Attributes = {
      ...failure,
      [ATTR.finishReasons]: [finishReason],
      ...(this.#stopReason !== undefined && { [PARLEY.stopReason]: this.#stopReason }),
      ...(this.#usage && usageAttributes(this.#usage, { convention, hasCache: true })),
    };
    this.#span.setAttributes(ended);
    this.#content.write(this.#span, {
      finishReason,
      context: this.#context,
      attributes: { ...this.#identity, ...ended },
    });
    const errorType = failure[ATTR.errorType];
    if (errorType !== undefined) {
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
      events.emit({
        eventName: EVENT.exception,
        severityNumber: SeverityNumber.WARN,
        attributes: { [ATTR.exceptionType]: errorType },
        context: this.#context,
      });
    }
    quietly(() => this.#span.end());
    const measured = this.#measured();
    instruments.chatDuration.record((performance.now() - this.#startedAt) / 1_000, { ...measured, ...failure });
    if (this.#usage) recordUsage(instruments, this.#usage, measured);
  }
}

/** Returns a fixed name for an error, never its message. */
function errorTypeOf(error: unknown): string {
  if (error instanceof ModelError) return error.kind;
  return error instanceof AppError ? error.code : "_OTHER";
}

/** Passes the model's events through unchanged, and records them on the span. */
export async function* traced(
  chat: ChatTrace,
  stream: AsyncIterable<ModelEvent>,
): AsyncGenerator<ModelEvent, void, undefined> {
  try {
    for await (const event of stream) {
      quietly(() => chat.watch(event));
      yield event;
    }
  } catch (error) {
    quietly(() => chat.fail(error));
    throw error;
  } finally {
    quietly(() => chat.abandon());
  }
}

/** Returns the attributes for the request's settings. Unset ones are absent. */
function requestAttributes({ max_tokens, output_config }: ModelRequest, convention: Convention): Attributes {
  const effort = output_config?.effort;
  return {
    [ATTR.requestStream]: true,
    [ATTR.outputType]: "text",
    [ATTR.requestMaxTokens]: max_tokens,
    ...(convention === "latest" && typeof effort === "string" && { [ATTR.reasoningLevel]: effort }),
  };
}
