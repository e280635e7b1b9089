import type { AudioFrame } from "@livekit/rtc-node";
import { moduleBeside } from "../../../lib/module-beside.ts";
import { toAudioFrame } from "../../../livekit/audio-frame.ts";
import { ModelThread } from "../../../speech/model-thread.ts";
import type { Speech } from "../../../speech/voice/voice.ts";
import { type SpeakOptions, splitSentences, type Synthesizer } from "../synthesizer.ts";
import { timeWords } from "../word-times.ts";
import { prepareSpeech } from "./prepare-speech.ts";

const FRAMES_A_SECOND = 50;
const LOUDEST = 32_767;

type VoiceThread = ModelThread<string, Speech>;

/** `TTS=embedded`: an American English voice on this machine. It speaks one sentence at a time. */
export class EmbeddedVoice implements Synthesizer {
  readonly #thread: VoiceThread;
  readonly #other: Synthesizer | undefined;

  private constructor(thread: VoiceThread, other: Synthesizer | undefined) {
    this.#thread = thread;
    this.#other = other;
  }

  /**
   * Downloads missing files and loads the voice.
   *
   * @param other speaks all languages except English
   * @throws {AppError} `unavailable` if a download fails
   */
  static async load(env: NodeJS.ProcessEnv, other: Synthesizer | undefined): Promise<EmbeddedVoice> {
    const folder = await prepareSpeech("speak", env);
    const module = moduleBeside(import.meta.url, "../../../speech/voice/voice-thread");
    const thread: VoiceThread = new ModelThread({ name: "the embedded voice", module, workerData: folder });
    await thread.warm();
    return new EmbeddedVoice(thread, other);
  }

  async *speak(text: AsyncIterable<string>, options: SpeakOptions): AsyncGenerator<AudioFrame> {
    const { language, signal } = options;
    if (this.#other && language !== undefined && !/^en(?=-|$)/iu.test(language)) {
      yield* this.#other.speak(text, options);
      return;
    }
    for await (const sentence of splitSentences(text, language)) {
      if (signal.aborted) return;
      const speech = await this.#thread.ask(sentence, [], signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
        return undefined;
      });
      if (signal.aborted || !speech) return;
      yield* toFrames(speech);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#thread.close(), this.#other?.close()]);
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
