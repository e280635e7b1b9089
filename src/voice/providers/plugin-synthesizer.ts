import type { tts, voice } from "@livekit/agents";
import type { AudioFrame } from "@livekit/rtc-node";
import { handled } from "../../livekit/handled-stream.ts";
import { splitSentences, type SpeakOptions, type Synthesizer } from "./synthesizer.ts";
import { timeWords, type TimedWord } from "./word-times.ts";

const CONNECT = { maxRetry: 1, retryIntervalMs: 250, timeoutMs: 10_000 } as const;

/**
 * Speaks with a LiveKit TTS plugin: with one stream per text if the plugin can stream, otherwise with one request per
 * sentence. Sessions share this object, and a failure in one session does not affect the others.
 */
export class PluginSynthesizer implements Synthesizer {
  readonly #tts: tts.TTS;

  constructor(plugin: tts.TTS) {
    this.#tts = plugin;
    // Without a listener, an `error` event would crash the process.
    plugin.on("error", () => {});
  }

  async *speak(text: AsyncIterable<string>, { language, signal }: SpeakOptions): AsyncGenerator<AudioFrame> {
    if (this.#tts.capabilities.streaming) return yield* this.#stream(text, signal);
    for await (const sentence of splitSentences(text, language)) {
      if (signal.aborted) return;
      const failure = new Failure(signal);
      const stream = handled(this.#tts.synthesize(sentence, CONNECT, signal), failure.note);
      for await (const { frame } of stream) yield frame;
      failure.check();
    }
  }

  async close(): Promise<void> {
    await this.#tts.close();
  }

  async *#stream(text: AsyncIterable<string>, signal: AbortSignal): AsyncGenerator<AudioFrame> {
    const failure = new Failure(signal);
    const stream = handled(this.#tts.stream({ connOptions: CONNECT }), failure.note);
    const close = () => stream.close();
    signal.addEventListener("abort", close, { once: true });
    const pushing = push(text, stream, signal).catch(() => {});
    let seconds = 0;
    try {
      for await (const event of stream) {
        if (typeof event === "symbol") break;
        const { frame, timedTranscripts = [] } = event;
        timeWords(frame, toTimedWords(timedTranscripts, seconds));
        yield frame;
        seconds += frame.samplesPerChannel / frame.sampleRate;
      }
    } finally {
      signal.removeEventListener("abort", close);
      close();
      await pushing;
    }
    failure.check();
  }
}

/** @param seconds how much audio the stream has yielded so far; the plugin's times count from the stream's beginning */
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

async function push(text: AsyncIterable<string>, stream: tts.SynthesizeStream, signal: AbortSignal): Promise<void> {
  for await (const piece of text) {
    if (signal.aborted) return;
    stream.pushText(piece);
  }
  stream.flush();
  stream.endInput();
}
