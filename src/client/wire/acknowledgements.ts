/** Waits for the worker's Ack of our messages. Every promise it gives settles: Ack, timeout or close. */
export class Acknowledgements {
  readonly #waiting = new Map<number, (isTaken: boolean) => void>();

  /** `false` when no Ack came within `timeoutMs`, or it said `success: false`. */
  wait(stanzaId: number, timeoutMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), timeoutMs);
    this.#waiting.set(stanzaId, resolve);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(stanzaId);
    });
  }

  handle(acknowledgedStanzaId: number, isTaken: boolean): void {
    this.#waiting.get(Math.abs(acknowledgedStanzaId))?.(isTaken);
  }

  /** Nothing more will come: the connection is gone. */
  abandon(): void {
    for (const resolve of this.#waiting.values()) resolve(false);
  }
}
