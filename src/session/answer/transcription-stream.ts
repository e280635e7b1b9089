import { setImmediate } from "node:timers/promises";
import type { TextStream } from "../room/room-link.ts";

/**
 * Writes an answer's text to a LiveKit text stream, which is opened on the first write. Each write costs as much as a
 * packet, so text that arrives in the same tick as the first write, or while a write is in progress, is combined.
 * Errors are ignored: they affect only this stream.
 */
export class TranscriptionStream {
  readonly #open: () => Promise<TextStream>;
  #stream: Promise<TextStream> | undefined;
  #last: Promise<void> = Promise.resolve();
  #waiting = "";
  #isClosed = false;

  constructor(open: () => Promise<TextStream>) {
    this.#open = open;
  }

  write(text: string): void {
    if (text === "") return;
    const isFirst = !this.#stream;
    this.#stream ??= this.#open();
    const moment = isFirst ? setImmediate() : undefined;
    if (this.#waiting === "")
      this.#then(async (stream) => {
        await moment;
        await stream.write(this.#takeWaiting(), isFirst && this.#isClosed);
      });
    this.#waiting += text;
  }

  close(): void {
    this.#isClosed = true;
    this.#then((stream) => stream.close());
  }

  #takeWaiting(): string {
    const text = this.#waiting;
    this.#waiting = "";
    return text;
  }

  #then(action: (stream: TextStream) => Promise<void>): void {
    const stream = this.#stream;
    if (!stream) return;
    this.#last = this.#last.then(async () => action(await stream)).catch(() => {});
  }
}
