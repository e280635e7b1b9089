import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

export interface SseEvent {
  /** Absent in streams whose data has the type of the event. */
  readonly event?: string;
  /** The id from which a reader that comes back goes on. */
  readonly id?: string | undefined;
  readonly data: object;
}

export interface SseTimes {
  /** @defaultValue 10000 */
  readonly heartbeatMs?: number;
  /** How long a reader may take to read what is buffered for it. @defaultValue 30000 */
  readonly drainMs?: number;
}

const RETRY_MS = 1_000;
/** A comment: it keeps the connection in use, and readers skip it. */
const HEARTBEAT = ": heartbeat";

/** One open `text/event-stream` answer. A reader that does not read is cut off: it can come back and go on by id. */
export class SseStream {
  readonly #response: ServerResponse;
  readonly #drainMs: number;
  readonly #closed = new AbortController();

  /** Sends the head at once. The caller must have taken the answer over from the framework. */
  constructor(
    response: ServerResponse,
    { heartbeatMs = 10_000, drainMs = 30_000 }: SseTimes,
    heartbeat: () => string = () => HEARTBEAT,
  ) {
    this.#response = response;
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
      // Otherwise nginx would hold events back.
      "x-accel-buffering": "no",
    });
    response.write(`retry: ${RETRY_MS}\n\n`);
  }

  /** Aborted when nobody reads any more. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Resolves when the reader has room for more, or is gone. JSON has no line breaks, so the data is one line. */
  async send({ event, id, data }: SseEvent): Promise<void> {
    if (this.closed.aborted || this.#response.writableEnded) return;
    const head = `${id === undefined ? "" : `id: ${id}\n`}${event === undefined ? "" : `event: ${event}\n`}`;
    if (this.#response.write(`${head}data: ${JSON.stringify(data)}\n\n`)) return;
    await this.#drained();
  }

  /** Ends it after what is buffered, or by force when the reader does not take that in time. */
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
