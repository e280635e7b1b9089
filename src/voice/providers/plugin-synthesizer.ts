import type { tts } from "@livekit/agents";
import type { AudioFrame } from "@livekit/rtc-node";
import { handled } from "../../livekit/handled-stream.ts";
import { splitSentences, type SpeakOptions, type Synthesizer } from "./synthesizer.ts";

const CONNECT = { maxRetry: 1, retryIntervalMs: 250, timeoutMs: 10_000 } as const;

/** A voice of a LiveKit plugin. It gets the text as a stream where it can take one, else a sentence at a time. */
export class PluginSynthesizer implements Synthesizer {
  readonly #tts: tts.TTS;
  #error: Error | undefined;

  constructor(plugin: tts.TTS) {
    this.#tts = plugin;
    // An `error` event without a listener would end the process.
    plugin.on("error", ({ error, recoverable }) => {
      if (!recoverable) this.#error = error;
    });
  }

  async *speak(text: AsyncIterable<string>, { language, signal }: SpeakOptions): AsyncGenerator<AudioFrame> {
    this.#error = undefined;
    if (this.#tts.capabilities.streaming) yield* this.#stream(text, signal);
    else {
      for await (const sentence of splitSentences(text, language)) {
        if (signal.aborted) return;
        for await (const { frame } of handled(this.#tts.synthesize(sentence, CONNECT, signal))) yield frame;
        this.#check(signal);
      }
    }
    this.#check(signal);
  }

  async close(): Promise<void> {
    await this.#tts.close();
  }

  async *#stream(text: AsyncIterable<string>, signal: AbortSignal): AsyncGenerator<AudioFrame> {
    const stream = this.#tts.stream({ connOptions: CONNECT });
    const close = () => stream.close();
    signal.addEventListener("abort", close, { once: true });
    const pushing = push(text, stream, signal).catch(() => {});
    try {
      for await (const event of stream) {
        if (typeof event === "symbol") break;
        yield event.frame;
      }
    } finally {
      signal.removeEventListener("abort", close);
      close();
      await pushing;
    }
  }

  #check(signal: AbortSignal): void {
    if (this.#error && !signal.aborted) throw this.#error;
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
