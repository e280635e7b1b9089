import { type FastifyInstance, type FastifyReply } from "fastify";
import { type Refusal, type RoomAccess } from "../access/room-access.ts";
import { SseStream, type SseTimes } from "./sse-stream.ts";
import { StreamLimit } from "./stream-limit.ts";

/** A place for one stream. */
export interface StreamPlace {
  /** Takes the answer over. The place is given back when the stream is over. */
  readonly open: (reply: FastifyReply, heartbeat?: () => string) => SseStream;
  /** Gives the place back unused. */
  readonly leave: () => void;
}

const MAX_STREAMS_OF_ONE = 5;
const MAX_STREAMS = 1_000;
/** The longest that a timer can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** All event streams of one server: how many a participant may have, and that each ends with its token or the server. */
export class SseStreams {
  readonly #times: SseTimes;
  readonly #limit = new StreamLimit(MAX_STREAMS_OF_ONE, MAX_STREAMS);
  readonly #open = new Set<SseStream>();

  constructor(app: FastifyInstance, times: SseTimes) {
    this.#times = times;
    app.addHook("preClose", async () => {
      for (const stream of this.#open) stream.end();
    });
  }

  take({ room, identity, expiresAt }: RoomAccess): StreamPlace | Refusal {
    const leave = this.#limit.take(`${room}\n${identity}`);
    if (leave === "one") return { status: 429, error: `At most ${MAX_STREAMS_OF_ONE} streams a participant` };
    if (leave === "all") return { status: 503, error: "Too many streams are open" };
    const open: StreamPlace["open"] = (reply, heartbeat) => {
      reply.hijack();
      const stream = new SseStream(reply.raw, this.#times, heartbeat);
      this.#open.add(stream);
      const expiry = setTimeout(() => stream.end(), Math.min(expiresAt - Date.now(), MAX_TIMER_MS));
      stream.closed.addEventListener("abort", () => {
        clearTimeout(expiry);
        this.#open.delete(stream);
        leave();
      });
      return stream;
    };
    return { open, leave };
  }
}
