import { LIMITS } from "../../protocol/limits.ts";

/** The shortest wait that a refusal asks for. */
const MIN_RETRY_MS = 1_000;

/** What kind of input a participant sends. A refusal is sent in the same way as the input. */
export type InputKind = keyof typeof REPLIES_PER_WAIT;

/**
 * The maximum number of refusals per wait. Each dropped user message gets its own refusal, up to the number of messages
 * that one participant may have queued.
 */
const REPLIES_PER_WAIT = { packet: 1, message: 20, text: 1, stream: 1 };

/** A token bucket for what one participant sends without being asked. */
export class MessageBudget {
  readonly #burst: number;
  readonly #perSecond: number;
  #tokens: number;
  #at = 0;
  /**
   * How many refusals were sent, and when their wait ends, by kind of input. A client that sends one kind does not see
   * the refusals of another.
   */
  readonly #refusals = new Map<InputKind, { readonly until: number; count: number }>();

  constructor(burst: number = LIMITS.messageBurst, perSecond: number = LIMITS.messagesPerSecond) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#tokens = burst;
  }

  /**
   * Spends tokens. Returns `false` if less than one token is left. A cost above the remaining budget is accepted and
   * makes the budget negative. `now` is in ms.
   */
  spend(cost: number, now: number): boolean {
    const refilled = this.#tokens + ((now - this.#at) * this.#perSecond) / 1_000;
    this.#tokens = Math.min(this.#burst, refilled);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= cost;
    return true;
  }

  /** Charges for work whose cost is known only after the message was admitted. */
  charge(cost: number): void {
    this.#tokens -= cost;
  }

  /**
   * Returns how many ms the sender must wait, or `undefined` if the refusals of this kind are used up until the wait
   * ends.
   */
  refuse(kind: InputKind, now: number): number | undefined {
    const refusals = this.#refusals.get(kind);
    if (refusals && now < refusals.until && refusals.count >= REPLIES_PER_WAIT[kind]) return undefined;
    const waitMs = Math.ceil(((1 - this.#tokens) * 1_000) / this.#perSecond);
    const retryAfterMs = Math.max(MIN_RETRY_MS, waitMs);
    if (refusals && now < refusals.until) refusals.count += 1;
    else this.#refusals.set(kind, { until: now + retryAfterMs, count: 1 });
    return retryAfterMs;
  }
}

/** Returns the cost of a message of this size, in tokens. */
export function messageCost(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / LIMITS.bytesPerToken));
}
