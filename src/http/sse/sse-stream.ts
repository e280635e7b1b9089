import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { memoizeByObject } from "../../lib/memoize-by-object.ts";
import type { LoopShare } from "./loop-share.ts";

export interface SseEvent {
  /** Absent in streams whose data contains the event's type. */
  readonly event?: string;
  /** The id after which a reconnecting reader resumes. */
  readonly id?: string | undefined;
  readonly data: object;
}

interface SseStreamOptions extends SseTimes {
  /** Shared by all streams of the server. */
  readonly loopShare: LoopShare;
  /** Returns the text sent at every heartbeat. @defaultValue an SSE comment */
  readonly heartbeat?: (() => string) | undefined;
}

export interface SseTimes {
  /** @defaultValue 10000 */
  readonly heartbeatMs?: number;
  /** How long a reader may take to read what is buffered for it. @defaultValue 30000 */
  readonly drainMs?: number;
}

/** Encodes an event once for all streams that send it. JSON has no line breaks, so the data is one line. */
const encode = memoizeByObject(({ event, id, data }: SseEvent) => {
  const head = `${id === undefined ? "" : `id: ${id}\n`}${event === undefined ? "" : `event: ${event}\n`}`;
  return Buffer.from(`${head}data: ${JSON.stringify(data)}\n\n`);
});

const RETRY_MS = 1_000;
/** A comment, which readers ignore. It keeps the connection alive. */
const HEARTBEAT = ": heartbeat";

/** One open `text/event-stream` response. A stalled reader is disconnected; it can reconnect and resume by id. */
export class SseStream {
  readonly #response: ServerResponse;
  readonly #loopShare: LoopShare;
  readonly #drainMs: number;
  readonly #closed = new AbortController();

  /** Sends the headers at once. The caller must have hijacked the response from the framework. */
  constructor(
    response: ServerResponse,
    { heartbeatMs = 10_000, drainMs = 30_000, loopShare, heartbeat = () => HEARTBEAT }: SseStreamOptions,
  ) {
    this.#response = response;
    this.#loopShare = loopShare;
    this.#drainMs = drainMs;
    const timer = setInterval(() => {
      if (!response.writableNeedDrain && !response.writableEnded) response.write(`${heartbeat()}\n\n`);
    }, heartbeatMs);
    response.on("error", () => {});
    response.once("close", () => {
      clearInterval(timer);
      this.#closed.abort();
    });
    response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      // Otherwise nginx would buffer events.
      "x-accel-buffering": "no",
    });
    response.write(`retry: ${RETRY_MS}\n\n`);
  }

  /** Aborted when the connection has closed. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Resolves when the reader can accept more or has disconnected. The event may be shared with other streams. */
  async send(event: SseEvent): Promise<void> {
    if (this.closed.aborted || this.#response.writableEnded) return;
    const bytes = encode(event);
    await this.#loopShare.turn(bytes.length);
    if (this.closed.aborted || this.#response.writableEnded || this.#response.write(bytes)) return;
    await this.#drained();
  }

  /** Sends what is buffered, then ends the response. Disconnects a reader that does not read the rest in time. */
  end(): void {
    this.#response.end();
    const timer = setTimeout(() => this.cut(), Math.min(this.#drainMs, 1_000));
    this.closed.addEventListener("abort", () => clearTimeout(timer), { once: true });
  }

  cut(): void {
    this.#response.destroy();
  }

  async #drained(): Promise<void> {
    const over = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#response.once("drain", resolve);
    this.closed.addEventListener("abort", () => resolve(), { once: true, signal: over.signal });
    void sleep(this.#drainMs, undefined, { signal: over.signal }).then(
      () => this.cut(),
      () => {},
    );
    await promise;
    over.abort();
    this.#response.off("drain", resolve);
  }
}
