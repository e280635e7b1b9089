import { setTimeout as sleep } from "node:timers/promises";
import { type Anthropic, APIError } from "@anthropic-ai/sdk";
import type { Stream } from "@anthropic-ai/sdk/streaming";
import type { ModelRequest } from "./build-request.ts";
import { type ClientOptions, openClient } from "./open-client.ts";
import { toBody } from "./request-body.ts";
import { toModelError, type ModelError } from "./model-error.ts";
import type { ModelEvent } from "./model-event.ts";
import { readStream } from "./read-stream.ts";
import { watchStream, type WatchLimits } from "./watch-stream.ts";

export interface ModelOptions extends ClientOptions {
  /**
   * Longest silence of a call, including the wait for the first event. Pings do not end a silence.
   * @defaultValue 30000
   */
  readonly idleTimeoutMs?: number;
  /** Longest silence while hidden thinking or a server tool is in progress. @defaultValue 4 times `idleTimeoutMs` */
  readonly quietTimeoutMs?: number;
  /** How often a call is retried before its stream opens. @defaultValue 2 */
  readonly maxRetries?: number;
  /**
   * Total time that a call waits before retries. If the next wait exceeds what is left, the call fails.
   * @defaultValue 10000
   */
  readonly retryBudgetMs?: number;
}

export interface Model {
  /**
   * Makes one model call. A call that fails before its first block is retried: up to `maxRetries` times before the
   * stream opens, and once after it has opened or after a silence. Failures after the first block throw, because part
   * of the answer may already have been spoken. Leaving the loop early cancels the request. An abort rejects with the
   * signal's reason.
   *
   * @throws {ModelError}
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined>;
  /**
   * Returns the API's token count of a request, or `undefined` if the API reports none in time. Rejects when aborted.
   */
  countTokens(request: ModelRequest, signal: AbortSignal): Promise<number | undefined>;
}

/** Creates a client for Anthropic's Messages API. It needs no closing: idle connections close by themselves. */
export function createModel(options: ModelOptions): Model {
  const client = openClient(options);
  const idleTimeoutMs = options.idleTimeoutMs ?? 30_000;
  const limits = {
    idleTimeoutMs,
    quietTimeoutMs: options.quietTimeoutMs ?? 4 * idleTimeoutMs,
    maxRetries: options.maxRetries ?? 2,
    retryBudgetMs: options.retryBudgetMs ?? 10_000,
  };
  return {
    stream(request, signal) {
      const body = toBody(request);
      // `messages.create` does not accept a body that is already JSON.
      const headers = { "content-type": "application/json" };
      const open: ApiStream = (callSignal) =>
        client.post<Stream<unknown>>("/v1/messages", { body, headers, stream: true, signal: callSignal });
      const maxDurationMs = maxDurationMsOf(request);
      return streamWithRetries(open, { ...limits, maxDurationMs }, signal);
    },
    countTokens: createCount(client),
  };
}

/**
 * Returns the longest duration of a call: ten minutes for server tools and waiting, plus 100 ms per token. The default
 * of 4096 tokens amounts to 17 minutes.
 */
function maxDurationMsOf({ max_tokens: maxTokens }: Pick<ModelRequest, "max_tokens">): number {
  return 600_000 + 100 * maxTokens;
}

/** How long to wait for a token count. Short, because a turn is waiting. */
const COUNT_WITHIN_MS = 2_000;

/** Creates `countTokens`. If the endpoint cannot count tokens for a model, it is not asked about that model again. */
function createCount(client: Anthropic): Model["countTokens"] {
  const unknown = new Set<string>();
  return async ({ model, messages, ...rest }, signal) => {
    if (unknown.has(model)) return undefined;
    const { system, tools, tool_choice, thinking, output_config, context_management } = rest;
    const optional = Object.entries({ system, tools, tool_choice, thinking, output_config, context_management });
    const set = Object.fromEntries(optional.filter(([, value]) => value !== undefined));
    const request = { model, messages, ...set };
    const soon = AbortSignal.any([signal, AbortSignal.timeout(COUNT_WITHIN_MS)]);
    try {
      const counted = await client.messages.countTokens(request, { signal: soon });
      return Number.isFinite(counted.input_tokens) ? counted.input_tokens : undefined;
    } catch (error) {
      signal.throwIfAborted();
      const status = error instanceof APIError ? error.status : undefined;
      if (status === 404 || status === 405 || status === 501) unknown.add(model);
      return undefined;
    }
  };
}

type ApiStream = (signal: AbortSignal) => Promise<AsyncIterable<unknown>>;
type RetryLimits = WatchLimits & { readonly maxRetries: number; readonly retryBudgetMs: number };

async function* streamWithRetries(
  open: ApiStream,
  limits: RetryLimits,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void, undefined> {
  const retriesLeft = { opening: limits.maxRetries, streaming: 1 };
  let budgetMs = limits.retryBudgetMs;
  for (let attempt = 0; ; attempt++) {
    const progress = { isOpen: false, hasEmitted: false };
    const openOnce: ApiStream = async (callSignal) => {
      const events = await open(callSignal);
      progress.isOpen = true;
      return events;
    };
    // The `message_start` is held back until a block follows, so that a retry never starts a message twice.
    let start: Extract<ModelEvent, { type: "message_start" }> | undefined;
    try {
      for await (const event of readStream(watchStream(openOnce, limits, signal))) {
        if (event.type === "message_start") {
          start = event;
          continue;
        }
        progress.hasEmitted = true;
        if (start) yield start;
        start = undefined;
        yield event;
      }
      return;
    } catch (error) {
      // The `message_start` is passed on for its usage: the API bills a call that it has begun to answer.
      if (signal.aborted && start) yield start;
      signal.throwIfAborted();
      const failure = toModelError(error, progress.isOpen ? "broken_stream" : "connection");
      const phase = progress.isOpen || failure.kind === "stalled" ? "streaming" : "opening";
      const delayMs = retryDelayMs(failure, attempt);
      if (progress.hasEmitted || !failure.retryable || retriesLeft[phase] === 0 || delayMs > budgetMs) {
        if (start) yield start;
        throw failure;
      }
      retriesLeft[phase]--;
      budgetMs -= delayMs;
      const usage = start && { usage: start.usage };
      yield { type: "retry", attempt: attempt + 1, delayMs, reason: failure.kind, ...usage };
      await sleep(delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

/**
 * Returns how long to wait before a retry: 0 after a silence, otherwise the API's `retry-after`. If the API sent none,
 * returns 0.5 s, doubled for each attempt and randomly reduced by up to a quarter.
 */
function retryDelayMs(failure: ModelError, attempt: number): number {
  if (failure.kind === "stalled") return 0;
  return failure.retryAfterMs || 500 * 2 ** attempt * (1 - Math.random() / 4);
}
