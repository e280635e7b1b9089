import { LIMITS } from "../../protocol/limits.ts";

/** A sender that is told to wait gets this much back before it comes again. */
const MIN_RETRY_MS = 1_000;

/** What may be sent without being asked for: tokens that come back steadily. */
export class MessageBudget {
  #tokens: number = LIMITS.messageBurst;
  #at = 0;
  #toldUntil = -Infinity;

  /** `false` when nothing is left. What costs more than is left is taken, and paid for by what comes after it. */
  spend(cost: number, now: number): boolean {
    const refilled = this.#tokens + ((now - this.#at) * LIMITS.messagesPerSecond) / 1_000;
    this.#tokens = Math.min(LIMITS.messageBurst, refilled);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= cost;
    return true;
  }

  /** For work that shows only later. */
  charge(cost: number): void {
    this.#tokens -= cost;
  }

  /** When to try again, in ms; `undefined` while that has been said and is not over. */
  tell(now: number): number | undefined {
    if (now < this.#toldUntil) return undefined;
    const waitMs = Math.ceil(((1 - this.#tokens) * 1_000) / LIMITS.messagesPerSecond);
    const retryAfterMs = Math.max(MIN_RETRY_MS, waitMs);
    this.#toldUntil = now + retryAfterMs;
    return retryAfterMs;
  }
}

/** What it costs to read so many bytes. */
export function costOf(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / LIMITS.bytesPerToken));
}
