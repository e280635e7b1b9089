import { LIMITS } from "../../protocol/limits.ts";

/** A stream's place among those of its sender. */
interface StreamShare {
  /** Counts what has come; `false` when its sender's streams hold too much by now. */
  readonly take: (bytes: number) => boolean;
  readonly close: () => void;
}

/** Bounds what the open streams of one sender hold, however many it opens and whether or not they ever end. */
export class StreamBudget {
  readonly #senders = new Map<string, { streams: number; bytes: number }>();

  /** `undefined` when the sender has as many open as it may. */
  open(identity: string): StreamShare | undefined {
    const used = this.#senders.get(identity) ?? { streams: 0, bytes: 0 };
    if (used.streams >= LIMITS.openStreams) return undefined;
    this.#senders.set(identity, used);
    used.streams += 1;
    let held = 0;
    return {
      take: (bytes) => {
        held += bytes;
        used.bytes += bytes;
        return used.bytes <= LIMITS.openStreamBytes;
      },
      close: () => {
        used.streams -= 1;
        used.bytes -= held;
        held = 0;
        if (used.streams === 0 && this.#senders.get(identity) === used) this.#senders.delete(identity);
      },
    };
  }

  /** The sender has left: what it comes back with counts from nothing. */
  forget(identity: string): void {
    this.#senders.delete(identity);
  }
}
