import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Sql } from "../../store/database/pool.ts";
import { abandonLease, releaseLease, renewLease } from "../../store/sessions/leases.ts";
import type { SessionRecord } from "../../store/sessions/sessions.ts";
import { lostLease, type SessionWriter } from "../../store/sessions/session-writer.ts";

interface SessionLeaseOptions {
  readonly leaseMs: number;
  /** The value of `performance.now()` before the claim was sent. */
  readonly claimedAt: number;
  /** Whether no other agent is in the room. If so, no other worker can be serving the session there. */
  readonly isAlone: () => boolean;
  readonly logger: Pick<Logger, "warn" | "error">;
}

/** How long to wait before asking the database again while it is unavailable. */
const RETRY_MS = 250;
/**
 * The length of the lease while the room is unreachable, as a share of the usual length. Lets the session survive a
 * short outage.
 */
const CUT_OFF_SHARE = 1 / 3;

/**
 * This worker's lease on its session. Tracks by the local clock how long this worker is certain to own the session.
 * After the process was frozen, the database is therefore asked before anything else is stored or sent.
 */
export class SessionLease {
  readonly writer: SessionWriter;
  readonly #options: SessionLeaseOptions;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #ownedUntil: number;
  /** When the database last failed to answer a renewal. */
  #unansweredAt = Number.NEGATIVE_INFINITY;
  #renewing: Promise<void> | undefined;
  #isCutOff = false;

  /** Renews the lease until it is released or lost. */
  constructor(sql: Sql, { id: sessionId, epoch }: Pick<SessionRecord, "id" | "epoch">, options: SessionLeaseOptions) {
    const { leaseMs, claimedAt } = options;
    this.writer = { sql, lease: { sessionId, epoch } };
    this.#options = options;
    this.#ownedUntil = claimedAt + leaseMs;
    this.#timer = setInterval(() => this.#isCutOff || void this.#renew(), leaseMs / 3);
  }

  /**
   * Call this when the room becomes unreachable or reachable again. While it is unreachable, the lease is shortened and
   * no longer renewed, so that a worker that can reach the room takes over. If the room becomes reachable again before
   * that, this worker continues.
   */
  setCutOff(isCutOff: boolean): void {
    if (this.#isCutOff === isCutOff || this.#lost.signal.aborted) return;
    this.#isCutOff = isCutOff;
    const { logger } = this.#options;
    if (isCutOff) logger.warn("room unreachable, lease shortened");
    // A renewal in progress uses the previous duration, so renew again after it.
    void Promise.resolve(this.#renewing).then(() => this.#renew());
  }

  /** Aborted when another worker owns the session. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Marks the session as lost to another worker, for example because a write was rejected. */
  lose(why = "lease lost, another worker took over the session"): void {
    if (this.#lost.signal.aborted) return;
    clearInterval(this.#timer);
    this.#options.logger.error(why);
    this.#lost.abort(lostLease());
  }

  /**
   * Resolves when it is certain that this worker owns the session: immediately, unless the lease has expired.
   *
   * @throws {AppError} `lost_lease`
   */
  async untilOwned(): Promise<void> {
    while (!this.#isOwned) await this.#askAgain();
    this.#lost.signal.throwIfAborted();
  }

  /**
   * Like `untilOwned`, but for sending. Also resolves while the database is unavailable, if no other agent is in the
   * room.
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

  /** Leaves the session and its running turn to the next worker. */
  async abandon(): Promise<void> {
    await abandonLease(this.writer);
    this.lose("lease released, session left to another worker");
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
    if (this.#isCutOff) await sleep(RETRY_MS);
    else await this.#renew();
    this.#lost.signal.throwIfAborted();
    if (!this.#isOwned && !this.maySpeak) await sleep(RETRY_MS);
  }

  #renew(): Promise<void> {
    return (this.#renewing ??= this.#askDatabase().finally(() => (this.#renewing = undefined)));
  }

  async #askDatabase(): Promise<void> {
    const { logger } = this.#options;
    const leaseMs = this.#options.leaseMs * (this.#isCutOff ? CUT_OFF_SHARE : 1);
    const askedAt = performance.now();
    const unanswered = setTimeout(() => {
      // If the process was frozen, an answer may have arrived that was not read yet, so the database does not count as
      // away.
      if (performance.now() - askedAt < (2 * leaseMs) / 3) this.#unansweredAt = performance.now();
    }, leaseMs / 3);
    try {
      if (!(await renewLease(this.writer, { leaseMs }))) return this.lose();
      this.#ownedUntil = askedAt + leaseMs;
      this.#unansweredAt = Number.NEGATIVE_INFINITY;
    } catch (error) {
      this.#unansweredAt = performance.now();
      logger.warn({ error }, "lease renewal failed");
    } finally {
      clearTimeout(unanswered);
    }
  }
}
