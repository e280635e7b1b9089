import { type AudioFrame, AudioResampler } from "@livekit/rtc-node";
import { AppError } from "../../errors/app-error.ts";
import { toAudioFrame, toMono } from "../../livekit/audio-frame.ts";

/** How long a plugin may produce no sound while a sentence is due. After this time, it is considered stuck. */
const SILENT_MS = 5_000;
/** The sample rate of the agent's track. Without a common rate, two plugins cannot speak in the same answer. */
const SAMPLE_RATE = 24_000;

/**
 * Yields what a plugin's stream yields. Ends when the signal is aborted.
 *
 * @throws if the stream yields nothing for `SILENT_MS`
 */
export async function* untilStuck<Value>(
  stream: AsyncIterator<Value>,
  signal: AbortSignal,
): AsyncGenerator<Value, void> {
  const aborted = Promise.withResolvers<void>();
  const onAbort = () => aborted.resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    while (!signal.aborted) {
      const next = await beforeStuck(stream.next(), aborted.promise);
      if (next === undefined || next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function beforeStuck<Value>(next: Promise<Value>, aborted: Promise<void>): Promise<Value | void> {
  const stuck = Promise.withResolvers<never>();
  const problem = new AppError("unavailable", `no sound for ${SILENT_MS / 1_000} s`);
  const timer = setTimeout(() => stuck.reject(problem), SILENT_MS);
  try {
    return await Promise.race([next, aborted, stuck.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Converts a plugin's frames to one channel and the agent's sample rate. Drops empty frames. */
export class SoundConverter {
  #resampler: AudioResampler | undefined;

  /** @throws if the frame's sample rate is invalid */
  push(frame: AudioFrame): AudioFrame[] {
    const { sampleRate, channels, samplesPerChannel } = frame;
    if (samplesPerChannel === 0) return [];
    if (!isSampleRate(sampleRate)) throw new AppError("unavailable", `sound with a sample rate of ${sampleRate}`);
    const mono = channels === 1 ? frame : toAudioFrame(toMono(frame), sampleRate);
    const rest = sampleRate === this.#resampler?.inputRate ? [] : this.flush();
    if (sampleRate === SAMPLE_RATE) return [...rest, mono];
    this.#resampler ??= new AudioResampler(sampleRate, SAMPLE_RATE);
    return [...rest, ...this.#resampler.push(mono)];
  }

  /** Returns the remaining sound. */
  flush(): AudioFrame[] {
    const rest = this.#resampler?.flush() ?? [];
    this.close();
    return rest;
  }

  close(): void {
    this.#resampler?.close();
    this.#resampler = undefined;
  }
}

export function isSampleRate(value: number): boolean {
  return Number.isInteger(value) && value >= 8_000 && value <= 192_000;
}
