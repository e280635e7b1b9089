/** How long to wait for an Ack before a message is resent. */
const AGAIN_AFTER_MS = 5_000;
/** How long to try to deliver a message. Replacing a dead worker may take 20 s, and its replacement may die, too. */
export const DELIVER_WITHIN_MS = 60_000;
const MAX_MESSAGES = 512;
/**
 * The total size of the messages that are kept for resending: enough for the maximum number of messages in flight, each
 * of the maximum size. They may all have to be resent, because the worker rejects streams whose total size is too
 * large.
 */
const MAX_BYTES = 32 * 1024 * 1024;
/** How many messages are resent before a pause. Fewer than the worker accepts from one participant per second. */
const MAX_AT_ONCE = 40;
const PAUSE_MS = 1_000;

interface SentMessage {
  readonly sizeBytes: number;
  readonly send: () => void;
  readonly giveUpAt: number;
  dueAt: number;
}

/**
 * Messages that were sent but not yet acknowledged. They are resent after a while. The worker may also ask us to resend
 * them, because it drops messages when we send too many. Their stanza numbers do not change, so no message is handled
 * twice.
 */
export class Unacknowledged {
  readonly #messages = new Map<number, SentMessage>();
  readonly #waiting = new Map<number, (isTaken: boolean) => void>();
  #sizeBytes = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pausedUntil = 0;

  /**
   * Adds a sent message. `send` resends it and must not throw. When there are too many messages, the oldest are
   * dropped.
   */
  add(stanzaId: number, sizeBytes: number, send: () => void): void {
    const now = performance.now();
    this.#messages.set(stanzaId, { sizeBytes, send, giveUpAt: now + DELIVER_WITHIN_MS, dueAt: now + AGAIN_AFTER_MS });
    this.#sizeBytes += sizeBytes;
    while (this.#messages.size > MAX_MESSAGES || this.#sizeBytes > MAX_BYTES) {
      const [oldest] = this.#messages.keys();
      if (oldest === undefined) break;
      this.#forget(oldest);
    }
    if (this.#timer === undefined) this.#schedule();
  }

  /**
   * Resolves to `true` when an Ack with `success: true` arrives. Resolves to `false` for an Ack with `success: false`,
   * and if no Ack arrives within `timeoutMs` or before `clear`. Never rejects.
   */
  wait(stanzaId: number, timeoutMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), timeoutMs);
    this.#waiting.set(stanzaId, resolve);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(stanzaId);
    });
  }

  acknowledge(stanzaId: number, isTaken: boolean): void {
    this.#forget(stanzaId);
    this.#waiting.get(Math.abs(stanzaId))?.(isTaken);
  }

  #forget(stanzaId: number): void {
    this.#sizeBytes -= this.#messages.get(stanzaId)?.sizeBytes ?? 0;
    this.#messages.delete(stanzaId);
    if (this.#messages.size === 0) this.#stopTimer();
  }

  /** After `ms`, resends all messages that are still unacknowledged. Until then, resends none. */
  sendAgainAfter(ms: number): void {
    const now = performance.now();
    if (now < this.#pausedUntil) return;
    this.#pausedUntil = now + ms;
    for (const message of this.#messages.values()) message.dueAt = this.#pausedUntil;
    this.#schedule();
  }

  /**
   * Call this when the worker or this client has left. Drops all messages, and pending `wait` calls resolve to `false`.
   */
  clear(): void {
    this.#stopTimer();
    this.#messages.clear();
    this.#sizeBytes = 0;
    for (const resolve of this.#waiting.values()) resolve(false);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #schedule(leastMs = 0): void {
    this.#stopTimer();
    if (this.#messages.size === 0) return;
    const next = Math.min(...[...this.#messages.values()].map(({ dueAt }) => dueAt));
    this.#timer = setTimeout(() => this.#sendDue(), Math.max(leastMs, next - performance.now()));
  }

  #sendDue(): void {
    const now = performance.now();
    const due = [...this.#messages].filter(([, { dueAt }]) => dueAt <= now).slice(0, MAX_AT_ONCE);
    for (const [stanzaId, message] of due) {
      message.dueAt = now + AGAIN_AFTER_MS;
      if (message.dueAt > message.giveUpAt) this.#forget(stanzaId);
      message.send();
    }
    this.#schedule(PAUSE_MS);
  }
}
