import { LIMITS } from "../../protocol/limits.ts";

/** One open stream's share of its sender's budget. */
interface StreamShare {
  /** Counts a received chunk. Returns `false` if the sender's open streams now hold too many bytes. */
  readonly take: (bytes: number) => boolean;
  readonly close: () => void;
}

/** Bytes added to the size of each chunk, so that a stream of many tiny chunks also reaches the limit. */
const BYTES_A_PIECE = 256;

/** Limits how many streams one sender has open and how many bytes they hold, even if they never end. */
export class StreamBudget {
  readonly #senders = new Map<string, { streams: number; bytes: number }>();

  /** Returns `undefined` if the sender already has the maximum number of open streams. */
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

  /** Call this when the sender has left. It gets a full budget if it joins again. */
  forget(identity: string): void {
    this.#senders.delete(identity);
  }
}
