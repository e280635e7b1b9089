import type { RoomLink } from "../room/room-link.ts";

type TextStream = Awaited<ReturnType<RoomLink["openTranscription"]>>;

/**
 * Opens its stream with the first words. Words that come during a write are joined for the next one, because each write
 * costs as much as a packet. A failure ends only this stream.
 */
export class TranscriptionStream {
  readonly #open: () => Promise<TextStream>;
  #stream: Promise<TextStream> | undefined;
  #last: Promise<void> = Promise.resolve();
  #waiting = "";

  constructor(open: () => Promise<TextStream>) {
    this.#open = open;
  }

  write(text: string): void {
    if (text === "") return;
    this.#stream ??= this.#open();
    if (this.#waiting === "") this.#then((stream) => stream.write(this.#takeWaiting()));
    this.#waiting += text;
  }

  close(): void {
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
