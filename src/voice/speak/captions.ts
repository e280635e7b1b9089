import { ReadableStream, type ReadableStreamDefaultController } from "node:stream/web";
import { voice } from "@livekit/agents";
import { SentenceTimes } from "./sentence-times.ts";

/**
 * The sentences of a spoken part as they are heard. AgentSession writes each sentence to the room when its audio
 * begins, and paces its words by the length of the audio.
 */
export class Captions {
  readonly times = new SentenceTimes();
  readonly stream: ReadableStream<voice.TimedString>;
  #controller: ReadableStreamDefaultController<voice.TimedString> | undefined;
  #written = 0;
  /** The number of sentences whose end time was written to AgentSession. */
  #ended = 0;
  #begun = 0;
  #isComplete = false;

  constructor() {
    this.stream = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => {
        this.#controller = undefined;
      },
    });
  }

  /** Advances to the playback position. Returns the words that have become audible since the last call. */
  advance(playedSeconds: number): string {
    const { sentences } = this.times;
    for (const { text, beginsAt } of sentences.slice(this.#written)) {
      if (beginsAt > playedSeconds) break;
      this.#write({ text, startTime: beginsAt });
      this.#written += 1;
    }
    for (const { endsAt, isComplete } of sentences.slice(this.#ended, this.#written)) {
      if (!isComplete) break;
      this.#write({ text: "", startTime: endsAt, endTime: endsAt });
      this.#ended += 1;
    }
    if (this.#isComplete && this.#written === sentences.length) this.close();
    const begun = this.times.begunUntil(playedSeconds);
    const words = begun.slice(this.#begun);
    this.#begun = Math.max(this.#begun, begun.length);
    return words;
  }

  /** Call this when all audio has been generated. */
  complete(): void {
    this.#isComplete = true;
  }

  /** Ends the captions. May be called more than once. */
  close(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }

  #write(sentence: Parameters<typeof voice.createTimedString>[0]): void {
    this.#controller?.enqueue(voice.createTimedString(sentence));
  }
}
