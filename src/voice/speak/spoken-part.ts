import { ReadableStream, type ReadableStreamDefaultController } from "node:stream/web";
import type { VoiceChoice } from "../providers/synthesizer.ts";
import { countLetters, dropLetters } from "../../conversation/truncate-to-played.ts";

interface SpokenPartOptions {
  readonly kind: "answer" | "aside";
  readonly language: string | undefined;
  /** @defaultValue the default voice */
  readonly voice?: VoiceChoice | undefined;
  /** Called with each group of words as playback reaches it. */
  readonly onPlayed: (text: string) => void;
}

/** A part of the agent's speech. Its text may still grow while it is spoken. */
export class SpokenPart {
  readonly kind: SpokenPartOptions["kind"];
  readonly language: string | undefined;
  readonly voice: VoiceChoice | undefined;
  /** The text, for AgentSession. Never errors, because AgentSession would then wait forever. */
  readonly stream: ReadableStream<string>;
  readonly #onPlayed: (text: string) => void;
  #controller: ReadableStreamDefaultController<string> | undefined;
  #text = "";
  #playedLetters = 0;
  /** Where a sentence is known to end, as a count of letters. */
  readonly #sentenceEnds = new Set<number>();

  constructor({ kind, language, voice, onPlayed }: SpokenPartOptions) {
    this.kind = kind;
    this.language = language;
    this.voice = voice;
    this.#onPlayed = onPlayed;
    this.stream = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => {
        this.#controller = undefined;
      },
    });
  }

  get text(): string {
    return this.#text;
  }

  write(text: string): void {
    this.#text += text;
    this.#controller?.enqueue(text);
  }

  /** Marks the end of a sentence, so that its audio need not wait for more text. */
  endSentence(): void {
    this.#sentenceEnds.add(countLetters(this.#text));
  }

  /** Whether a sentence is known to end after this many letters. */
  hasSentenceEndAfter(letters: number): boolean {
    return this.#sentenceEnds.has(letters);
  }

  /** Ends the text. May be called more than once. */
  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }

  markPlayed(words: string): void {
    this.#playedLetters += countLetters(words);
    this.#onPlayed(words);
  }

  /** Marks the whole part as heard, including words for which `markPlayed` was not called. */
  markRestPlayed(): void {
    const rest = dropLetters(this.#text, this.#playedLetters);
    if (rest !== "") this.markPlayed(rest);
  }
}
