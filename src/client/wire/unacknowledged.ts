/** A message is sent this often in all; after that it is given up. */
const MAX_TRIES = 8;
const MAX_KEPT = 512;
const MAX_KEPT_BYTES = 4 * 1024 * 1024;
/** Messages per pause; less than the worker accepts from one participant per second. */
const MAX_AT_ONCE = 40;
const PAUSE_MS = 1_000;

interface Kept {
  readonly sizeBytes: number;
  readonly send: () => void;
  tries: number;
}

/**
 * Messages that were sent and not acknowledged yet. A worker that gets too many messages from us drops some, and says
 * when to send them again. They keep their stanza numbers, so none is handled twice.
 */
export class Unacknowledged {
  readonly #kept = new Map<number, Kept>();
  readonly #waiting = new Map<number, (isTaken: boolean) => void>();
  #sizeBytes = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `send` repeats the message; it must not throw. When too many are kept, the oldest are dropped. */
  add(stanzaId: number, sizeBytes: number, send: () => void): void {
    this.#kept.set(stanzaId, { sizeBytes, send, tries: 1 });
    this.#sizeBytes += sizeBytes;
    while (this.#kept.size > MAX_KEPT || this.#sizeBytes > MAX_KEPT_BYTES) {
      const [oldest] = this.#kept.keys();
      if (oldest === undefined) break;
      this.#forget(oldest);
    }
  }

  /** Always resolves; `false` when no Ack came within `timeoutMs` or before `clear`, or it said `success: false`. */
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
    this.#sizeBytes -= this.#kept.get(stanzaId)?.sizeBytes ?? 0;
    this.#kept.delete(stanzaId);
  }

  /** In `ms`, sends again all messages that are still not acknowledged. */
  sendAgainAfter(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const waiting = [...this.#kept].slice(0, MAX_AT_ONCE);
      const isMore = this.#kept.size > waiting.length;
      for (const [stanzaId, kept] of waiting) {
        if (++kept.tries >= MAX_TRIES) this.#forget(stanzaId);
        kept.send();
      }
      if (isMore) this.sendAgainAfter(PAUSE_MS);
    }, ms);
  }

  /** For when the worker is gone, or we are: forgets all messages, and `wait` resolves to `false`. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#kept.clear();
    this.#sizeBytes = 0;
    for (const resolve of this.#waiting.values()) resolve(false);
  }
}
