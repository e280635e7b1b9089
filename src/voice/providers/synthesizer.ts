import { type AudioFrame } from "@livekit/rtc-node";
import { Speaker } from "../../session/answer/speaker.ts";

/** Makes sound of text. */
export interface Synthesizer {
  /**
   * The sound of a text that is still being written, as early as it can be had. Ends when the signal is aborted.
   *
   * @throws when no sound can be made of it
   */
  readonly speak: (text: AsyncIterable<string>, options: SpeakOptions) => AsyncIterable<AudioFrame>;
  readonly close: () => Promise<void>;
}

export interface SpeakOptions {
  /** BCP 47. */
  readonly language: string | undefined;
  readonly signal: AbortSignal;
}

/** The sentences of a text, each as soon as it is known to be whole: for what speaks one at a time. */
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
