import { LIMITS } from "../../protocol/limits.ts";

/** The shortest wait that a sender is told. */
const MIN_RETRY_MS = 1_000;

/** How a participant sends something. It is told in the same way that it sends too much. */
export type Way = "packet" | "text" | "stream";

/** A token bucket for what one participant sends without being asked. It fills at `LIMITS.messagesPerSecond`. */
export class MessageBudget {
  #tokens: number = LIMITS.messageBurst;
  #at = 0;
  /** Until when each way has been told to wait. One way does not hear what another was told. */
  readonly #toldUntil: Record<Way, number> = { packet: -Infinity, text: -Infinity, stream: -Infinity };

  /** `false` if less than one token is left. A higher cost is let in, and leaves the budget negative. `now` in ms. */
  spend(cost: number, now: number): boolean {
    const refilled = this.#tokens + ((now - this.#at) * LIMITS.messagesPerSecond) / 1_000;
    this.#tokens = Math.min(LIMITS.messageBurst, refilled);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= cost;
    return true;
  }

  /** Takes tokens for work whose cost is known only after the message was let in. */
  charge(cost: number): void {
    this.#tokens -= cost;
  }

  /** In how many ms to try again; `undefined` while the last wait that was told in this way is not over. */
  tell(way: Way, now: number): number | undefined {
    if (now < this.#toldUntil[way]) return undefined;
    const waitMs = Math.ceil(((1 - this.#tokens) * 1_000) / LIMITS.messagesPerSecond);
    const retryAfterMs = Math.max(MIN_RETRY_MS, waitMs);
    this.#toldUntil[way] = now + retryAfterMs;
    return retryAfterMs;
  }
}

/** What a message of so many bytes costs, in tokens. */
export function messageCost(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / LIMITS.bytesPerToken));
}
