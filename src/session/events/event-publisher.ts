import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { notifyEvents } from "../../store/events.ts";
import type { SessionWriter } from "../../store/sessions/session-writer.ts";
import { toPayloads, type LiveEvent } from "./live-event.ts";
import type { SessionWatcher } from "./session-event.ts";

interface PublisherOptions {
  readonly writer: SessionWriter;
  readonly logger: Pick<Logger, "warn">;
  /** How many events may be queued. @defaultValue 2000 */
  readonly maxQueued?: number;
}

const MAX_BATCH = 200;
const MAX_WAIT_MS = 1_000;
/** The pause between two batches. Each batch is a transaction, which costs as much as storing a block. */
const PAUSE_MS = 25;
const GAP: LiveEvent = { event: "gap", turn: "", data: {} };

/**
 * Publishes a session's events through PostgreSQL to its followers, such as event streams, in all processes. The
 * session never waits for this.
 */
export function createEventPublisher(options: PublisherOptions): SessionWatcher {
  const publisher = new EventPublisher(options);
  return (event) => {
    for (const live of toPayloads(event)) publisher.add(live);
  };
}

/**
 * Sends events in order, the first one at once. Events that arrive during the pause after a batch form the next batch.
 * If the queue is full, deltas are dropped first. A batch that fails is not retried. In both cases, a `gap` event makes
 * followers read the store.
 */
class EventPublisher {
  readonly #options: Required<PublisherOptions>;
  #queue: LiveEvent[] = [];
  /** Makes each payload unique, as `notifyEvents` requires. */
  #number = 0;
  #isSending = false;

  constructor(options: PublisherOptions) {
    this.#options = { maxQueued: 2_000, ...options };
  }

  add(live: LiveEvent): void {
    if (this.#queue.length >= this.#options.maxQueued) this.#makeRoom();
    this.#queue.push(live);
    void this.#send();
  }

  #makeRoom(): void {
    const before = this.#queue.length;
    const kept = this.#queue.filter(({ event }) => event !== "block_delta" && event !== "gap");
    this.#queue = [GAP, ...(kept.length < before / 2 ? kept : [])];
    const dropped = before - this.#queue.length + 1;
    this.#options.logger.warn({ dropped }, "live events dropped, queue full");
  }

  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    // Events added in the same tick form one batch.
    await Promise.resolve();
    for (let failures = 0; this.#queue.length > 0;) {
      const batch = this.#queue.splice(0, MAX_BATCH);
      try {
        const { writer } = this.#options;
        const payloads = batch.map(
          (live) => `${writer.lease.sessionId} ${JSON.stringify({ ...live, number: ++this.#number })}`,
        );
        await notifyEvents(writer, payloads);
        failures = 0;
        await sleep(PAUSE_MS, undefined, { ref: false });
      } catch (error) {
        failures += 1;
        if (failures === 1) this.#options.logger.warn({ error }, "sending live events failed, retrying");
        if (this.#queue[0]?.event !== "gap") this.#queue.unshift(GAP);
        await sleep(Math.min(50 * 2 ** failures, MAX_WAIT_MS), undefined, { ref: false });
      }
    }
    this.#isSending = false;
  }
}
