import type { AudioFrame } from "@livekit/rtc-node";
import { toAudioFrame } from "../../../livekit/audio-frame.ts";
import type { SpeechModelOf } from "../../../speech/start-model.ts";
import type { Speech } from "../../../speech/voice/voice.ts";
import { type SpeakOptions, splitSentences, type Synthesizer } from "../synthesizer.ts";
import { timeWords } from "../word-times.ts";
import { openModel } from "./open-model.ts";

const FRAMES_A_SECOND = 50;
const LOUDEST = 32_767;

/** `TTS=embedded`: an American English voice on this machine. It speaks one sentence at a time. */
export class EmbeddedVoice implements Synthesizer {
  readonly #hibari: SpeechModelOf<"speak">;
  readonly #other: Synthesizer | undefined;

  private constructor(hibari: SpeechModelOf<"speak">, other: Synthesizer | undefined) {
    this.#hibari = hibari;
    this.#other = other;
  }

  /**
   * Downloads missing files and loads the voice, unless the worker runs it already.
   *
   * @param other speaks all languages except English
   * @throws {AppError} `unavailable` if a download fails
   */
  static async load(env: NodeJS.ProcessEnv, other: Synthesizer | undefined): Promise<EmbeddedVoice> {
    return new EmbeddedVoice(await openModel("speak", env), other);
  }

  async *speak(text: AsyncIterable<string>, options: SpeakOptions): AsyncGenerator<AudioFrame> {
    const { language, signal } = options;
    if (this.#other && language !== undefined && !/^en(?=-|$)/iu.test(language)) {
      yield* this.#other.speak(text, options);
      return;
    }
    for await (const sentence of splitSentences(text, language)) {
      try {
        for await (const speech of this.#hibari.ask(sentence, { signal })) yield* toFrames(speech);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
      if (signal.aborted) return;
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#hibari.close(), this.#other?.close()]);
  }
}

function* toFrames({ samples, sampleRate, words }: Speech): Generator<AudioFrame> {
  const length = sampleRate / FRAMES_A_SECOND;
  const whole = Int16Array.from(samples, (sample) => Math.max(-1, Math.min(1, sample)) * LOUDEST);
  for (let start = 0; start < whole.length; start += length) {
    const frame = toAudioFrame(whole.subarray(start, start + length), sampleRate);
    if (start === 0)
      timeWords(
        frame,
        words.map(({ text, startMs, endMs }) => ({ text, startsAt: startMs / 1_000, endsAt: endMs / 1_000 })),
      );
    yield frame;
  }
}
