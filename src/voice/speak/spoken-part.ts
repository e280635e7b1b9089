import { ReadableStream, type ReadableStreamDefaultController } from "node:stream/web";
import { countLetters, dropLetters } from "../../conversation/truncate-to-played.ts";

interface SpokenPartOptions {
  readonly kind: "answer" | "aside";
  readonly language: string | undefined;
  /** The provider's name for the voice. @defaultValue the provider's default voice */
  readonly voice?: string | undefined;
  /** Called with each group of words as playback reaches it. */
  readonly onHeard: (text: string) => void;
}

/** A part of the agent's speech. Its text may still grow while it is spoken. */
export class SpokenPart {
  readonly kind: SpokenPartOptions["kind"];
  readonly language: string | undefined;
  readonly voice: string | undefined;
  /** The text, for AgentSession. Never errors, because AgentSession would then wait forever. */
  readonly stream: ReadableStream<string>;
  readonly #onHeard: (text: string) => void;
  #controller: ReadableStreamDefaultController<string> | undefined;
  #text = "";
  #heard = 0;

  constructor({ kind, language, voice, onHeard }: SpokenPartOptions) {
    this.kind = kind;
    this.language = language;
    this.voice = voice;
    this.#onHeard = onHeard;
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

  /** Ends the text. May be called more than once. */
  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }

  hear(words: string): void {
    this.#heard += countLetters(words);
    this.#onHeard(words);
  }

  /** Marks the whole part as heard, including words for which `hear` was not called. */
  hearRest(): void {
    const rest = dropLetters(this.#text, this.#heard);
    if (rest !== "") this.hear(rest);
  }
}
