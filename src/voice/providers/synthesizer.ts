import type { AudioFrame } from "@livekit/rtc-node";
import { Speaker } from "../../session/answer/speaker.ts";

/** Turns text into sound. */
export interface Synthesizer {
  /**
   * Gives the sound as early as possible, while the text is still being written. Ends when the signal is aborted.
   *
   * @throws when no sound can be made of the text
   */
  readonly speak: (text: AsyncIterable<string>, options: SpeakOptions) => AsyncIterable<AudioFrame>;
  /** Whether it takes one sentence after another, so that the sound of each is known. @defaultValue false */
  readonly bySentence?: boolean;
  /** Makes ready what the first words would wait for. Called when somebody begins to listen. */
  readonly warm?: () => void;
  readonly close: () => Promise<void>;
}

export interface SpeakOptions {
  /** BCP 47. */
  readonly language: string | undefined;
  /** Another voice of the provider, by its name. @defaultValue the usual one */
  readonly voice?: string | undefined;
  readonly signal: AbortSignal;
}

/** The sentences of a text, each as soon as it is whole: for voices that take one sentence at a time. */
export async function* splitSentences(
  text: AsyncIterable<string>,
  language: string | undefined,
): AsyncGenerator<string> {
  const sentences: string[] = [];
  const speaker = new Speaker(
    { onSentence: (sentence) => sentences.push(sentence.text), onText: () => {} },
    { language },
  );
  for await (const piece of text) {
    speaker.write(piece);
    yield* sentences.splice(0);
  }
  speaker.end();
  for (const sentence of sentences) if (sentence !== "") yield sentence;
}

/** A text that comes in pieces. */
export async function* piecesOf(first: string, others?: AsyncIterator<string>): AsyncGenerator<string> {
  yield first;
  if (others) yield* { [Symbol.asyncIterator]: () => others };
}
