import { setTimeout as sleep } from "node:timers/promises";
import { parseLiveEvent, type LiveEvent } from "../session/live-event.ts";
import { type RecordPoint } from "../store/load-turns-after.ts";
import { CallFeed } from "./call-feed.ts";
import { type EventSource, type SessionFollower } from "./event-source.ts";
import { RecordReader, type Goal } from "./record-reader.ts";
import { type SseStream } from "./sse-stream.ts";

/** What may wait for a slow reader; one that is further behind gets the rest from the store. */
const MAX_WAITING = 5_000;
const MAX_WAITING_LENGTH = 1024 * 1024;
/** How long something that was told live may take to be stored. */
const STORE_LIMIT_MS = 10_000;
const BLOCK_LIMIT_MS = 2_000;
const MAX_RETRY_MS = 250;
/**
 * How often it looks whether more is stored, while a turn goes on and for a while after a gap: what was told before
 * the gap may have been stored after it.
 */
const RECHECK_MS = 1_000;
const GAP = "";

interface FeedOptions {
  readonly source: EventSource;
  readonly stream: SseStream;
  readonly sessionId: string;
  readonly after: RecordPoint;
}

/** Feeds one stream: first what is stored after a point, then what happens, until the reader is gone. */
export async function feedStream({ source, stream, sessionId, after }: FeedOptions): Promise<void> {
  const { closed } = stream;
  const send = stream.send.bind(stream);
  const reader = new RecordReader({ sql: source.sql, sessionId, after, send, closed });
  const feed = new SessionFeed(stream, { reader, calls: new CallFeed({ sql: source.sql, sessionId, send }) });
  // Before the record is read, so that nothing falls between the two.
  const leave = source.follow(sessionId, feed);
  try {
    await feed.run();
  } finally {
    leave();
  }
}

/**
 * What is durable is shown from the store only, in its order: a live event that says so makes the reader catch up to
 * it. In between, what has no place in the store yet is shown as it comes.
 */
class SessionFeed implements SessionFollower {
  readonly #stream: SseStream;
  readonly #reader: RecordReader;
  readonly #calls: CallFeed;
  readonly #waiting: string[] = [];
  #waitingLength = 0;
  #wake = () => {};
  /** A turn whose events are not shown: it lies before the point, or its row never came. */
  #ignored = "";
  #recheckUntil = 0;

  constructor(stream: SseStream, { reader, calls }: { readonly reader: RecordReader; readonly calls: CallFeed }) {
    this.#stream = stream;
    this.#reader = reader;
    this.#calls = calls;
    stream.closed.addEventListener("abort", () => this.#wake(), { once: true });
  }

  onEvent(json: string): void {
    this.#waiting.push(json);
    this.#waitingLength += json.length;
    if (this.#waiting.length > MAX_WAITING || this.#waitingLength > MAX_WAITING_LENGTH) {
      this.#waiting.splice(0, this.#waiting.length, GAP);
      this.#waitingLength = 0;
    }
    this.#wake();
  }

  onGap(): void {
    if (this.#waiting.at(-1) !== GAP) this.onEvent(GAP);
  }

  async run(): Promise<void> {
    await this.#handleGap();
    while (!this.#stream.closed.aborted) {
      const json = this.#waiting.shift();
      if (json === undefined) {
        if (await this.#isQuiet()) await this.#caughtUp();
        continue;
      }
      this.#waitingLength -= json.length;
      const live = json === GAP ? undefined : parseLiveEvent(json);
      await (live && live.event !== "gap" ? this.#handle(live) : this.#handleGap());
    }
  }

  /** Waits for an event; `true` when none has come until it is time to look into the store again. */
  async #isQuiet(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#wake = () => resolve(false);
    const isRechecked = this.#reader.isInTurn || performance.now() < this.#recheckUntil;
    const timer = isRechecked ? setTimeout(() => resolve(true), RECHECK_MS) : undefined;
    const isQuiet = await promise;
    clearTimeout(timer);
    return isQuiet;
  }

  async #handleGap(): Promise<void> {
    this.#recheckUntil = performance.now() + STORE_LIMIT_MS;
    this.#reader.forgetOpen();
    // Without its record a stream is worth nothing: the reader comes back with its id.
    if (!(await this.#caughtUp()) || !(await this.#until(() => this.#calls.showNow()))) this.#stream.end();
  }

  async #handle({ event, turn, data }: LiveEvent): Promise<void> {
    const reader = this.#reader;
    const sequence = Number(data["sequence"]);
    switch (event) {
      case "tool_state":
        await this.#until(() => this.#calls.showTold(data));
        return;
      case "turn_start":
        // Known already: another worker goes on with it, and the block that was open begins anew.
        if (reader.has({ turn, sequence: "start" })) return this.#handleGap();
        return void (await this.#reached(turn));
      case "block_start":
        if (!(await this.#reached(turn))) return;
        // Blocks do not overlap: one that ended unheard is shown first.
        if (sequence > 0) await this.#caughtUp({ turn, sequence: sequence - 1 }, BLOCK_LIMIT_MS);
        await reader.open({ turn, sequence }, { event, data });
        return;
      case "block_delta":
        if (await this.#reached(turn)) await reader.grow({ turn, sequence }, { event, data });
        return;
      case "usage":
        if (await this.#reached(turn)) await this.#stream.send({ event, data });
        return;
      case "block_stop":
      case "turn_complete": {
        const goal: Goal = { turn, sequence: event === "block_stop" ? sequence : "end" };
        if (!(await this.#reached(turn)) || (await this.#caughtUp(goal))) return;
        reader.forgetOpen();
        // It could not be stored: shown without an id, for nobody can go on from it.
        return this.#stream.send({ event, data });
      }
      case "gap":
        return;
    }
  }

  /** Whether the turn is the one at hand, if need be after catching up to it. */
  async #reached(turn: string): Promise<boolean> {
    const goal: Goal = { turn, sequence: "start" };
    if (this.#reader.has(goal)) return true;
    if (this.#ignored === turn) return false;
    const isPast = await this.#reader.isPast(turn).catch(() => false);
    if (!isPast && (await this.#caughtUp(goal))) return true;
    this.#ignored = turn;
    return false;
  }

  /** Shows what is stored, until the goal is; `false` when that took too long or the reader is gone. */
  async #caughtUp(goal?: Goal, limitMs = STORE_LIMIT_MS): Promise<boolean> {
    if (goal && this.#reader.has(goal)) return true;
    const read = async () => {
      await this.#reader.catchUp(goal);
      return !goal || this.#reader.has(goal);
    };
    return this.#until(read, limitMs);
  }

  /** Reads from the store until it can be read and, where `read` says so, until it has what is wanted. */
  async #until(read: () => Promise<boolean | void>, limitMs = STORE_LIMIT_MS): Promise<boolean> {
    const { closed } = this.#stream;
    const giveUpAt = performance.now() + limitMs;
    for (let waitMs = 5; !closed.aborted; waitMs = Math.min(waitMs * 2, MAX_RETRY_MS)) {
      const isDone = await read().then(
        (has) => has ?? true,
        () => false,
      );
      if (isDone) return true;
      if (performance.now() > giveUpAt) return false;
      await sleep(waitMs, undefined, { signal: closed }).catch(() => {});
    }
    return false;
  }
}
