import { LIMITS } from "../../protocol/limits.ts";

/** One open stream's share of its sender's budget. */
interface StreamShare {
  /** Counts a piece that has come; `false` if the sender's streams now hold too much. */
  readonly take: (bytes: number) => boolean;
  readonly close: () => void;
}

/** Added to the bytes of each piece, because a stream may come in pieces of one byte. */
const BYTES_A_PIECE = 256;

/** Limits how many streams one sender has open, and how many bytes they hold, even if they never end. */
export class StreamBudget {
  readonly #senders = new Map<string, { streams: number; bytes: number }>();

  /** `undefined` when the sender has as many streams open as it may. */
  open(identity: string): StreamShare | undefined {
    const used = this.#senders.get(identity) ?? { streams: 0, bytes: 0 };
    if (used.streams >= LIMITS.openStreams) return undefined;
    this.#senders.set(identity, used);
    used.streams += 1;
    let held = 0;
    return {
      take: (bytes) => {
        held += bytes + BYTES_A_PIECE;
        used.bytes += bytes + BYTES_A_PIECE;
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

  /** The sender has left. If it joins again, it has its whole budget. */
  forget(identity: string): void {
    this.#senders.delete(identity);
  }
}
