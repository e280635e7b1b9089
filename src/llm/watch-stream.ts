import { isRecord } from "../lib/json.ts";
import { IdleWatchdog } from "./idle-watchdog.ts";
import { ModelError } from "./model-error.ts";

export interface WatchLimits {
  /** Longest silence, including the wait for the response's headers. */
  readonly idleTimeoutMs: number;
  /** Longest silence during hidden thinking, or while a tool runs on Anthropic's side. */
  readonly quietTimeoutMs: number;
  /** Longest duration of the whole call, regardless of progress. */
  readonly maxDurationMs: number;
}

/** The events that count as progress. All others only show that the socket is alive. */
const PROGRESS = new Set([
  "message_start",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
]);

const QUIET_BLOCKS = new Set(["thinking", "server_tool_use", "mcp_tool_use"]);

/** How long to wait for the end of the body after message_stop, so that the connection can be reused. */
const DRAIN_MS = 100;

/**
 * Opens a stream and passes its raw events on. Aborts the request when the stream is silent or takes too long, when
 * `signal` aborts, and when the reader returns early. Leaves no listener on `signal`.
 *
 * @throws the signal's reason; {ModelError} `stalled`, `endless_stream`; whatever `open` or its stream throws
 */
export async function* watchStream(
  open: (signal: AbortSignal) => Promise<AsyncIterable<unknown>>,
  limits: WatchLimits,
  signal: AbortSignal,
): AsyncGenerator<unknown, void, undefined> {
  signal.throwIfAborted();
  const request = new AbortController();
  const onAbort = () => request.abort();
  signal.addEventListener("abort", onAbort, { once: true });
  let ended: "stalled" | "endless_stream" | undefined;
  const end = (why: typeof ended) => {
    ended = why;
    request.abort();
  };
  const watchdog = new IdleWatchdog(limits.idleTimeoutMs, () => end("stalled"));
  const longest = setTimeout(() => end("endless_stream"), limits.maxDurationMs);
  try {
    watchdog.wait();
    for await (const event of await open(request.signal)) {
      // After an abort, the SDK still returns events that it had already read.
      signal.throwIfAborted();
      const type = isRecord(event) ? event["type"] : undefined;
      watchdog.pause(PROGRESS.has(String(type)));
      yield event;
      const limitMs = limitAfter(event, limits);
      if (limitMs !== undefined) watchdog.setLimit(limitMs);
      watchdog.wait();
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!ended) throw error;
  } finally {
    watchdog.stop();
    clearTimeout(longest);
    signal.removeEventListener("abort", onAbort);
  }
  // The SDK ends an aborted stream as if it were complete.
  signal.throwIfAborted();
  if (ended) throw new ModelError(ended);
}

function limitAfter(event: unknown, limits: WatchLimits): number | undefined {
  if (!isRecord(event)) return undefined;
  if (event["type"] === "message_stop") return DRAIN_MS;
  if (event["type"] === "content_block_start") {
    const type = isRecord(event["content_block"]) ? event["content_block"]["type"] : undefined;
    return QUIET_BLOCKS.has(String(type)) ? limits.quietTimeoutMs : limits.idleTimeoutMs;
  }
  // Thinking that is shown arrives as deltas, so it is not a silence.
  const delta = event["type"] === "content_block_delta" ? event["delta"] : undefined;
  return isRecord(delta) && delta["type"] === "thinking_delta" ? limits.idleTimeoutMs : undefined;
}
