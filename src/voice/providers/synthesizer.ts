import type { AudioFrame } from "@livekit/rtc-node";
import type { OneOrMore, Speak } from "../../agent/plugins/speech-plugins.ts";
import { SentenceStream } from "../../session/answer/sentence-stream.ts";

/** Converts text to audio. */
export interface Synthesizer {
  /**
   * Yields the audio of a text as early as possible. Ends when the signal is aborted. The player calls this once for
   * each sentence, so that it knows which audio belongs to which sentence. Frames may carry the times of words
   * (`timeWords`).
   *
   * @throws if no audio can be generated for the text
   */
  readonly speak: (text: AsyncIterable<string>, options: SpeakOptions) => AsyncIterable<AudioFrame>;
  /** Does work in advance that would otherwise delay the first words. Called when somebody starts to listen. */
  readonly warm?: () => void;
  readonly close: () => Promise<void>;
}

/** An agent's own voice: the provider's name for it, or the functions that create its plugins. */
export type VoiceChoice = string | OneOrMore<Speak>;

export interface SpeakOptions {
  /** The language of the text, as a BCP 47 tag. */
  readonly language: string | undefined;
  /** @defaultValue the default voice */
  readonly voice?: VoiceChoice | undefined;
  readonly signal: AbortSignal;
}

/** Yields each sentence of a text as soon as it is complete. For voices that accept one sentence at a time. */
export async function* splitSentences(
  text: AsyncIterable<string>,
  language: string | undefined,
): AsyncGenerator<string> {
  const sentences: string[] = [];
  const stream = new SentenceStream(
    { onSentence: (sentence) => sentences.push(sentence.text), onText: () => {} },
    { language },
  );
  for await (const piece of text) {
    stream.write(piece);
    yield* sentences.splice(0);
  }
  stream.end();
  for (const sentence of sentences) if (sentence !== "") yield sentence;
}

/** Yields the first piece of a text, then the others. */
export async function* piecesOf(first: string, others?: AsyncIterator<string>): AsyncGenerator<string> {
  yield first;
  if (others) yield* { [Symbol.asyncIterator]: () => others };
}
