import type { LiveEvent } from "../../session/events/live-event.ts";
import type { RecordPoint } from "../../store/turns/load-turns-after.ts";
import { CallFeed, toToolStateEvent } from "./call-feed.ts";
import type { EventSource } from "./event-source.ts";
import { LiveQueue } from "./live-queue.ts";
import { PermissionFeed } from "./permission-feed.ts";
import { readUntil, RecordReader, STORE_LIMIT_MS, type Goal } from "./record-reader.ts";
import { toAskedEvent, toExtendedEvent, toRepliedEvent } from "../permissions/show-permission.ts";
import { liveEvent } from "./stored-events.ts";
import type { SseStream } from "../sse/sse-stream.ts";

const ENDS = { turn_complete: "end", turn_spoken: "spoken" } as const;
const BLOCK_LIMIT_MS = 2_000;
/**
 * How often to read the store if no live event arrives. Applies while a turn runs, and for a while after a gap, because
 * content whose event was lost in the gap may be stored later.
 */
const RECHECK_MS = 1_000;

interface FeedOptions {
  readonly source: EventSource;
  readonly stream: SseStream;
  readonly sessionId: string;
  /** The reader's identity. */
  readonly identity: string;
  readonly after: RecordPoint;
}

/** Sends events until the reader disconnects: first what is stored after a point, then new events as they happen. */
export async function feedStream({ source, stream, sessionId, identity, after }: FeedOptions): Promise<void> {
  const { reads } = source;
  const { closed } = stream;
  const send = stream.send.bind(stream);
  const live = new LiveQueue(closed);
  const feed = new SessionFeed(stream, {
    live,
    reader: new RecordReader({ reads, sessionId, after, send, closed }),
    calls: new CallFeed({ reads, sessionId, send, toEvent: toToolStateEvent }),
    permissions: new PermissionFeed({
      reads,
      sessionId,
      identity,
      send,
      toAsked: toAskedEvent,
      toExtended: toExtendedEvent,
      toReplied: toRepliedEvent,
    }),
  });
  // Follow before reading the record, so that no event is missed in between.
  const leave = source.follow(sessionId, live);
  try {
    await feed.run();
  } finally {
    leave();
  }
}

interface FeedParts {
  readonly live: LiveQueue;
  readonly reader: RecordReader;
  readonly calls: CallFeed;
  readonly permissions: PermissionFeed;
}

/**
 * Sends stored content only from the store, in stored order. A live event about stored content only makes the reader
 * catch up. Content that is not stored yet, such as a growing block, is sent as it arrives.
 */
class SessionFeed {
  readonly #stream: SseStream;
  readonly #live: LiveQueue;
  readonly #reader: RecordReader;
  readonly #calls: CallFeed;
  readonly #permissions: PermissionFeed;
  /**
   * The id of a turn whose live events are skipped, because the turn is older than what was sent, or was never stored.
   */
  #ignored = "";
  #recheckUntil = 0;

  constructor(stream: SseStream, { live, reader, calls, permissions }: FeedParts) {
    this.#stream = stream;
    this.#live = live;
    this.#reader = reader;
    this.#calls = calls;
    this.#permissions = permissions;
  }

  async run(): Promise<void> {
    await this.#handleGap();
    for (;;) {
      const isRechecked = this.#reader.isInTurn || performance.now() < this.#recheckUntil;
      const next = await this.#live.next(isRechecked ? RECHECK_MS : undefined);
      if (next === "closed") return;
      if (next === "quiet") await this.#caughtUp();
      else await (next === "gap" ? this.#handleGap() : this.#handle(next));
    }
  }

  async #handleGap(): Promise<void> {
    this.#recheckUntil = performance.now() + STORE_LIMIT_MS;
    this.#reader.forgetOpen();
    // If the record cannot be read, the stream ends. The reader reconnects and resumes after its last event id.
    const showNow = async () => {
      await this.#calls.showNow();
      await this.#permissions.showNow();
    };
    if (!(await this.#caughtUp()) || !(await this.#until(showNow))) this.#stream.end();
  }

  async #handle(live: LiveEvent): Promise<void> {
    const reader = this.#reader;
    const { event, turn, data } = live;
    const sequence = Number(data["sequence"]);
    switch (event) {
      case "tool_state":
        await this.#until(() => this.#calls.showReported(data));
        return;
      case "permission.asked":
      case "permission.extended":
      case "permission.replied":
        await this.#until(() => this.#permissions.showReported(data));
        return;
      case "turn_start":
        // A known turn starts again when another worker resumes it. Then its open block starts again as well.
        if (reader.has({ turn, sequence: "start" })) return this.#handleGap();
        return void (await this.#reached(turn));
      case "block_start":
        if (!(await this.#reached(turn))) return;
        // Blocks do not overlap, so the previous block has ended. If its end was missed, send that first.
        if (sequence > 0) await this.#caughtUp({ turn, sequence: sequence - 1 }, BLOCK_LIMIT_MS);
        await reader.open({ turn, sequence }, liveEvent(live));
        return;
      case "block_delta":
        if (await this.#reached(turn)) await reader.grow({ turn, sequence }, liveEvent(live));
        return;
      case "usage":
        if (await this.#reached(turn)) await this.#stream.send(liveEvent(live));
        return;
      case "block_stop":
        return this.#handleEnd(live, { turn, sequence });
      case "turn_complete":
      case "turn_spoken":
        return this.#handleEnd(live, { turn, sequence: ENDS[event] });
      case "gap":
        return;
    }
  }

  /**
   * Sends the end of a block, of a turn or of a turn's speech. If the end was not stored, sends the live event instead.
   */
  async #handleEnd(live: LiveEvent, goal: Goal): Promise<void> {
    if (!(await this.#reached(live.turn)) || (await this.#caughtUp(goal))) return;
    this.#reader.forgetOpen();
    // The block or end could not be stored, so no reader can resume from it: it is sent without an id.
    return this.#stream.send(liveEvent(live));
  }

  /** Catches up to this turn if necessary. Returns `false` for a turn that is not shown. */
  async #reached(turn: string): Promise<boolean> {
    const goal: Goal = { turn, sequence: "start" };
    if (this.#reader.has(goal)) return true;
    if (this.#ignored === turn) return false;
    const isPast = await this.#reader.isPast(turn).catch(() => false);
    if (!isPast && (await this.#caughtUp(goal))) return true;
    this.#ignored = turn;
    return false;
  }

  /** Sends what is stored, up to the goal. Returns `false` on a timeout or if the reader disconnects. */
  async #caughtUp(goal?: Goal, limitMs?: number): Promise<boolean> {
    if (goal && this.#reader.has(goal)) return true;
    const read = async () => {
      await this.#reader.catchUp(goal);
      return !goal || this.#reader.has(goal);
    };
    return this.#until(read, limitMs);
  }

  #until(read: () => Promise<boolean | void>, limitMs?: number): Promise<boolean> {
    return readUntil(read, { closed: this.#stream.closed, ...(limitMs !== undefined && { limitMs }) });
  }
}
