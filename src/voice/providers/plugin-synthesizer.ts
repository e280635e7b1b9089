import type { tts, voice } from "@livekit/agents";
import type { AudioFrame } from "@livekit/rtc-node";
import { AppError } from "../../errors/app-error.ts";
import { handled } from "../../livekit/handled-stream.ts";
import { namedError, pluginName } from "./plugin-error.ts";
import { splitSentences, type SpeakOptions, type Synthesizer } from "./synthesizer.ts";
import { timeWords, type TimedWord } from "./word-times.ts";

const CONNECT = { maxRetry: 1, retryIntervalMs: 250, timeoutMs: 10_000 } as const;

/** The longest sound of a text, in seconds: even a slow voice that spells out every letter needs less. */
const longestSound = (text: string) => 30 + text.length;

/**
 * Speaks with a LiveKit TTS plugin: with one stream per text if the plugin can stream, otherwise with one request per
 * sentence. Sessions may share this object, and a failure in one session does not affect the others. Plugins are other
 * people's code: whatever one does, a text ends, with an error that names the plugin if it was not spoken.
 */
export class PluginSynthesizer implements Synthesizer {
  readonly #tts: tts.TTS;

  constructor(plugin: tts.TTS) {
    this.#tts = plugin;
    // Without a listener, an `error` event would crash the process.
    plugin.on("error", () => {});
  }

  async *speak(text: AsyncIterable<string>, { language, signal }: SpeakOptions): AsyncGenerator<AudioFrame> {
    try {
      if (this.#tts.capabilities.streaming) yield* this.#stream(text, signal);
      else for await (const sentence of splitSentences(text, language)) yield* this.#synthesize(sentence, signal);
    } catch (error) {
      if (!signal.aborted) throw namedError(pluginName(this.#tts), error);
    }
  }

  async close(): Promise<void> {
    await this.#tts.close();
  }

  async *#synthesize(sentence: string, signal: AbortSignal): AsyncGenerator<AudioFrame> {
    if (signal.aborted) return;
    const ended = new AbortController();
    const failure = new Failure(signal);
    try {
      const either = AbortSignal.any([signal, ended.signal]);
      const stream = handled(this.#tts.synthesize(sentence, CONNECT, either), failure.note);
      yield* soundOf(stream, { signal, failure, text: () => sentence });
    } finally {
      // `stream.close()` would make a plugin throw that sends sound later.
      ended.abort();
    }
  }

  async *#stream(text: AsyncIterable<string>, signal: AbortSignal): AsyncGenerator<AudioFrame> {
    const failure = new Failure(signal);
    const stream = handled(this.#tts.stream({ connOptions: CONNECT }), failure.note);
    const close = () => stream.close();
    signal.addEventListener("abort", close, { once: true });
    let said = "";
    const push = async () => {
      for await (const piece of text) {
        if (signal.aborted) return;
        said += piece;
        stream.pushText(piece);
      }
      stream.flush();
      stream.endInput();
    };
    const pushing = push().catch(failure.note);
    try {
      yield* soundOf(stream, { signal, failure, text: () => said });
    } finally {
      signal.removeEventListener("abort", close);
      close();
      await pushing;
    }
  }
}

interface SoundOptions {
  readonly signal: AbortSignal;
  readonly failure: Failure;
  /** Returns the text that the plugin has received so far. */
  readonly text: () => string;
}

/**
 * Yields the sound of a plugin's stream, with the times of words if the plugin reports them.
 *
 * @throws if the plugin fails, gets stuck, or produces no sound or endless sound
 */
async function* soundOf(
  stream: AsyncIterator<tts.SynthesizedAudio | typeof tts.SynthesizeStream.END_OF_STREAM>,
  { signal, failure, text }: SoundOptions,
): AsyncGenerator<AudioFrame> {
  // Imported only if needed, because it loads @livekit/rtc-node, a native library.
  const { SoundConverter, untilStuck } = await import("./plugin-sound.ts");
  const converter = new SoundConverter();
  /** How much audio was yielded. The plugin's times count from the stream's beginning. */
  let seconds = 0;
  let words: voice.TimedString[] = [];
  const timed = (frame: AudioFrame) => {
    timeWords(frame, toTimedWords(words, seconds));
    words = [];
    seconds += frame.samplesPerChannel / frame.sampleRate;
    if (seconds > longestSound(text())) throw new AppError("unavailable", "endless sound");
    return frame;
  };
  try {
    for await (const event of untilStuck(stream, signal)) {
      if (typeof event === "symbol") break;
      words.push(...(event.timedTranscripts ?? []));
      for (const frame of converter.push(event.frame)) yield timed(frame);
    }
    for (const frame of converter.flush()) yield timed(frame);
  } finally {
    converter.close();
  }
  failure.check();
  if (seconds === 0 && !signal.aborted && /[\p{L}\p{N}]/u.test(text())) throw new AppError("unavailable", "no sound");
}

function toTimedWords(words: readonly voice.TimedString[], seconds: number): TimedWord[] {
  return words.map(({ text, startTime = Number.NaN, endTime = Number.NaN }) => ({
    text,
    startsAt: startTime - seconds,
    endsAt: endTime - seconds,
  }));
}

/** Stores the first error of a stream. Errors are ignored once the signal is aborted. */
class Failure {
  readonly #signal: AbortSignal;
  #error: unknown;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  readonly note = (error: unknown): void => {
    this.#error ??= error;
  };

  check(): void {
    if (this.#error !== undefined && !this.#signal.aborted) throw this.#error;
  }
}
