import { setTimeout as sleep } from "node:timers/promises";
import { type Logger } from "pino";
import { type Sql } from "../../store/database/pool.ts";
import { releaseLease, renewLease } from "../../store/sessions/leases.ts";
import { type SessionRecord } from "../../store/sessions/sessions.ts";
import { lostLease, type SessionWriter } from "../../store/sessions/session-writer.ts";

interface SessionLeaseOptions {
  readonly leaseMs: number;
  /** By `performance.now()`, before the claim was sent. */
  readonly claimedAt: number;
  /** No other agent is in the room: nobody else can be going on with the session there. */
  readonly isAlone: () => boolean;
  readonly logger: Pick<Logger, "warn" | "error">;
}

/** How often it is asked again while the database is away. */
const RETRY_MS = 250;

/**
 * This worker's hold on its session. It counts by its own clock until when nobody else can have claimed the session, so
 * that a process that stood still knows of itself that it must ask before it does or says anything more.
 */
export class SessionLease {
  readonly writer: SessionWriter;
  readonly #options: SessionLeaseOptions;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #ownedUntil: number;
  /** When the database last left a renewal without an answer. */
  #unansweredAt = Number.NEGATIVE_INFINITY;
  #renewing: Promise<void> | undefined;

  /** Renews itself until it is released or lost. */
  constructor(sql: Sql, { id: sessionId, epoch }: Pick<SessionRecord, "id" | "epoch">, options: SessionLeaseOptions) {
    const { leaseMs, claimedAt } = options;
    this.writer = { sql, lease: { sessionId, epoch } };
    this.#options = options;
    this.#ownedUntil = claimedAt + leaseMs;
    this.#timer = setInterval(() => void this.#renew(), leaseMs / 3);
  }

  /** Aborted when another worker has the session. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** A write has found that another worker has the session. */
  lose(): void {
    if (this.#lost.signal.aborted) return;
    clearInterval(this.#timer);
    this.#options.logger.error("another worker has taken the session over");
    this.#lost.abort(lostLease());
  }

  /**
   * Resolves when the session is this worker's for certain: at once, unless the lease has run out.
   *
   * @throws {AppError} `lost_lease`
   */
  async untilOwned(): Promise<void> {
    while (!this.#isOwned) await this.#askAgain();
    this.#lost.signal.throwIfAborted();
  }

  /**
   * The same, for words: they also go on while the database is away, as long as no other agent has come into the room.
   *
   * @throws {AppError} `lost_lease`
   */
  async untilMaySpeak(): Promise<void> {
    while (!this.maySpeak) await this.#askAgain();
  }

  get maySpeak(): boolean {
    if (this.#lost.signal.aborted) return false;
    return this.#isOwned || (this.#isDatabaseAway && this.#options.isAlone());
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    await releaseLease(this.writer);
  }

  get #isOwned(): boolean {
    return performance.now() < this.#ownedUntil;
  }

  get #isDatabaseAway(): boolean {
    return performance.now() - this.#unansweredAt < this.#options.leaseMs;
  }

  async #askAgain(): Promise<void> {
    this.#lost.signal.throwIfAborted();
    await this.#renew();
    this.#lost.signal.throwIfAborted();
    if (!this.#isOwned && !this.maySpeak) await sleep(RETRY_MS);
  }

  #renew(): Promise<void> {
    return (this.#renewing ??= this.#askDatabase().finally(() => (this.#renewing = undefined)));
  }

  async #askDatabase(): Promise<void> {
    const { leaseMs, logger } = this.#options;
    const askedAt = performance.now();
    const unanswered = setTimeout(() => (this.#unansweredAt = performance.now()), leaseMs / 3);
    try {
      if (!(await renewLease(this.writer, { leaseMs }))) return this.lose();
      this.#ownedUntil = askedAt + leaseMs;
      this.#unansweredAt = Number.NEGATIVE_INFINITY;
    } catch (error) {
      this.#unansweredAt = performance.now();
      logger.warn({ error }, "the lease could not be renewed");
    } finally {
      clearTimeout(unanswered);
    }
  }
}
