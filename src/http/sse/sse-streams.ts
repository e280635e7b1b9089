import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RoomAccess } from "../access/room-access.ts";
import { HttpError, RETRY_SOON } from "../http-error.ts";
import { LoopShare } from "./loop-share.ts";
import { SseStream, type SseTimes } from "./sse-stream.ts";

interface StreamAnswer {
  /**
   * Prepares the stream and returns the function that feeds it. An error thrown here leads to the usual error response.
   */
  readonly begin: () => Promise<(stream: SseStream) => Promise<void>>;
  /** Returns the text sent at intervals to keep the connection alive. @defaultValue an SSE comment */
  readonly heartbeat?: () => string;
}

const MAX_STREAMS_OF_ONE = 5;
const MAX_STREAMS = 1_000;
/** The longest delay that `setTimeout` accepts. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * All event streams of one server. Limits how many are open, and ends each when its token expires or the server closes.
 */
export class SseStreams {
  readonly #times: SseTimes;
  readonly #loopShare = new LoopShare();
  readonly #open = new Set<SseStream>();
  /** How many streams each participant has open or is about to open. */
  readonly #openCounts = new Map<string, number>();
  #openTotal = 0;

  constructor(app: Pick<FastifyInstance, "addHook">, times: SseTimes) {
    this.#times = times;
    app.addHook("preClose", async () => {
      for (const stream of this.#open) stream.end();
    });
  }

  /** Answers a request with a stream. The request must have a room token. @throws {HttpError} 429, 503 */
  async answer(
    request: FastifyRequest,
    reply: FastifyReply,
    { begin, heartbeat }: StreamAnswer,
  ): Promise<FastifyReply> {
    const { access, log } = request;
    const leave = this.take(access);
    const feed = await begin().catch((error: unknown) => {
      leave();
      throw error;
    });
    reply.hijack();
    // The reader disconnected while `begin` ran. No `close` event follows, so the place is released here.
    if (reply.raw.destroyed) {
      leave();
      return reply;
    }
    const stream = new SseStream(reply.raw, { ...this.#times, loopShare: this.#loopShare, heartbeat });
    this.#open.add(stream);
    const expiry = setTimeout(() => stream.end(), Math.min(access.expiresAt - Date.now(), MAX_TIMER_MS));
    stream.closed.addEventListener("abort", () => {
      clearTimeout(expiry);
      this.#open.delete(stream);
      leave();
    });
    feed(stream).catch((error: unknown) => {
      log.error({ error }, "event stream failed");
      stream.cut();
    });
    return reply;
  }

  /**
   * Reserves a place for a stream or another long response. Returns a function that releases it.
   *
   * @throws {HttpError} 429, 503
   */
  take({ room, identity }: RoomAccess): () => void {
    const key = `${room}\n${identity}`;
    const open = this.#openCounts.get(key) ?? 0;
    if (open >= MAX_STREAMS_OF_ONE)
      throw new HttpError(429, `A participant may open at most ${MAX_STREAMS_OF_ONE} streams`, { headers: RETRY_SOON });
    if (this.#openTotal >= MAX_STREAMS) throw new HttpError(503, "Too many streams are open", { headers: RETRY_SOON });
    this.#openCounts.set(key, open + 1);
    this.#openTotal += 1;
    return () => {
      const left = (this.#openCounts.get(key) ?? 1) - 1;
      if (left === 0) this.#openCounts.delete(key);
      else this.#openCounts.set(key, left);
      this.#openTotal -= 1;
    };
  }
}
