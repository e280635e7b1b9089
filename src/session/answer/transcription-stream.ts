import { type RoomLink } from "../room/room-link.ts";

type TextStream = Awaited<ReturnType<RoomLink["openTranscription"]>>;

/** Opens its stream with the first words. A failure ends this stream and nothing else. */
export class TranscriptionStream {
  readonly #open: () => Promise<TextStream>;
  #stream: Promise<TextStream> | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(open: () => Promise<TextStream>) {
    this.#open = open;
  }

  write(text: string): void {
    this.#stream ??= this.#open();
    this.#then((stream) => stream.write(text));
  }

  close(): void {
    this.#then((stream) => stream.close());
  }

  #then(action: (stream: TextStream) => Promise<void>): void {
    const stream = this.#stream;
    if (!stream) return;
    this.#last = this.#last.then(async () => action(await stream)).catch(() => {});
  }
}
