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
  /** Longest silence of a call, from its request on; pings do not end a silence. @defaultValue 30000 */
  readonly idleTimeoutMs?: number;
  /** The same while the model's thinking is not shown or a server tool runs. @defaultValue 4 times `idleTimeoutMs` */
  readonly quietTimeoutMs?: number;
  /** Retries before a stream begins. @defaultValue 2 */
  readonly maxRetries?: number;
  /** All waits between retries together; a longer `retry-after` fails at once. @defaultValue 10000 */
  readonly retryBudgetMs?: number;
}

export interface Model {
  /**
   * Makes one model call. If it fails before its first block, it is made again: up to `maxRetries` times before the
   * stream opens, once after that or after a silence. Later failures throw, for words may have been spoken. `break`
   * cancels the request; an abort rejects with the signal's own reason.
   *
   * @throws {ModelError}
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined>;
  /** The tokens of a request, as the API counts them; `undefined` when it does not tell soon. Rejects when aborted. */
  countTokens(request: ModelRequest, signal: AbortSignal): Promise<number | undefined>;
}

/** Anthropic's Messages API behind one function. Nothing to close: idle connections close by themselves. */
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
      // `messages.create` takes no request that is JSON already.
      const headers = { "content-type": "application/json" };
      const open: ApiStream = (callSignal) =>
        client.post<Stream<unknown>>("/v1/messages", { body, headers, stream: true, signal: callSignal });
      const maxDurationMs = maxDurationMsOf(request);
      return streamWithRetries(open, { ...limits, maxDurationMs }, signal);
    },
    countTokens: createCount(client),
  };
}

/** Ten minutes for server tools and waiting, and no fewer than ten tokens a second. The default of 4096 gives 17 minutes. */
function maxDurationMsOf({ max_tokens: maxTokens }: Pick<ModelRequest, "max_tokens">): number {
  return 600_000 + 100 * maxTokens;
}

/** The limit is short because a turn waits. */
const COUNT_WITHIN_MS = 2_000;

/** An endpoint that does not know how to count, or not for this model, is not asked again for it. */
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
    // Held back until a block follows, so that a retry never starts a message twice.
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
      // Passed on for its usage: the API bills what it has begun to answer.
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

/** None after a silence, else `retry-after`, else 0.5 s, doubled each time, less up to a random quarter of it. */
function retryDelayMs(failure: ModelError, attempt: number): number {
  if (failure.kind === "stalled") return 0;
  return failure.retryAfterMs || 500 * 2 ** attempt * (1 - Math.random() / 4);
}
