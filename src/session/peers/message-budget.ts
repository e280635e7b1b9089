import { LIMITS } from "../../protocol/limits.ts";

/** The shortest wait that a sender is told. */
const MIN_RETRY_MS = 1_000;

/** How a participant sends something. It is told in the same way that it sends too much. */
export type Way = keyof typeof TELLINGS;

/** How often a sender is told in one wait. Of its messages that begin a turn, each is named: so many may wait for one. */
const TELLINGS = { packet: 1, message: 20, text: 1, stream: 1 };

/** A token bucket for what one participant sends without being asked. */
export class MessageBudget {
  readonly #burst: number;
  readonly #perSecond: number;
  #tokens: number;
  #at = 0;
  /** Until when each way has been told to wait, and how often. One way does not hear what another was told. */
  readonly #told = new Map<Way, { readonly until: number; count: number }>();

  constructor(burst: number = LIMITS.messageBurst, perSecond: number = LIMITS.messagesPerSecond) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#tokens = burst;
  }

  /** `false` if less than one token is left. A higher cost is let in, and leaves the budget negative. `now` in ms. */
  spend(cost: number, now: number): boolean {
    const refilled = this.#tokens + ((now - this.#at) * this.#perSecond) / 1_000;
    this.#tokens = Math.min(this.#burst, refilled);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= cost;
    return true;
  }

  /** Takes tokens for work whose cost is known only after the message was let in. */
  charge(cost: number): void {
    this.#tokens -= cost;
  }

  /** In how many ms to try again; `undefined` when that was told in this way, and the wait is not over. */
  tell(way: Way, now: number): number | undefined {
    const told = this.#told.get(way);
    if (told && now < told.until && told.count >= TELLINGS[way]) return undefined;
    const waitMs = Math.ceil(((1 - this.#tokens) * 1_000) / this.#perSecond);
    const retryAfterMs = Math.max(MIN_RETRY_MS, waitMs);
    if (told && now < told.until) told.count += 1;
    else this.#told.set(way, { until: now + retryAfterMs, count: 1 });
    return retryAfterMs;
  }
}

/** What a message of so many bytes costs, in tokens. */
export function messageCost(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / LIMITS.bytesPerToken));
}
