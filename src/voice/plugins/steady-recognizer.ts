import { setTimeout as sleep } from "node:timers/promises";
import { stt } from "@livekit/agents";
import type { AudioFrame } from "@livekit/rtc-node";
import { FallbackOrder } from "../../agent/fallback-order.ts";
import { AppError } from "../../errors/app-error.ts";
import { handled } from "../../livekit/handled-stream.ts";
import { pluginName } from "../providers/plugin-error.ts";

const CONNECT = { maxRetry: 1, retryIntervalMs: 250, timeoutMs: 5_000 } as const;
/** The wait before a failed recognizer is opened again doubles between these limits. */
const WAIT_MS = { least: 250, most: 10_000 } as const;
/** How much audio a recognizer receives again if the previous one has failed before recognizing it. */
const REPLAYED_SECONDS = 15;

/**
 * Keeps streaming recognizers going: if the stream of one fails or ends, the next one of the list continues, with the
 * audio that has no words yet. By itself, AgentSession would end for good at the first such error, in all sessions that
 * share the recognizer. LiveKit's `stt.FallbackAdapter` ends as well once each recognizer has failed, and loses the
 * audio.
 */
export class SteadyRecognizer extends stt.STT {
  readonly label: string;
  readonly order: FallbackOrder<stt.STT>;
  /** The recognizer that is listening, or was the last to listen. */
  listening: stt.STT;

  constructor(recognizers: readonly [stt.STT, ...stt.STT[]]) {
    super({ ...recognizers[0].capabilities, streaming: true });
    this.label = recognizers.map(pluginName).join(", ");
    this.order = new FallbackOrder(recognizers);
    this.listening = recognizers[0];
  }

  override get model(): string {
    return this.listening.model;
  }

  override get provider(): string {
    return this.listening.provider;
  }

  override stream(): stt.SpeechStream {
    return new SteadyStream(this);
  }

  protected override async _recognize(...[frames, signal]: Parameters<stt.STT["recognize"]>): Promise<stt.SpeechEvent> {
    return this.listening.recognize(frames, signal);
  }
}

class SteadyStream extends stt.SpeechStream {
  readonly label: string;
  readonly #recognizer: SteadyRecognizer;
  /** The stream of the recognizer that is listening. */
  #open: stt.SpeechStream | undefined;
  /** The latest audio whose words are not final. */
  #unrecognized: AudioFrame[] = [];
  #seconds = 0;
  #hasInputEnded = false;

  constructor(recognizer: SteadyRecognizer) {
    super(recognizer);
    this.label = recognizer.label;
    this.#recognizer = recognizer;
    this.abortSignal.addEventListener("abort", () => this.#open?.close(), { once: true });
  }

  /** Does nothing: nobody counts recognitions. */
  protected override async monitorMetrics(): Promise<void> {}

  protected override async run(): Promise<void> {
    void this.#pump();
    for (let failures = 0; !this.closed; failures++) {
      const [recognizer = this.#recognizer.listening, ...others] = this.#recognizer.order.current;
      const { hasWords, error } = await this.#listen(recognizer);
      if (this.closed || (this.#hasInputEnded && error === undefined)) break;
      this.#recognizer.order.markFailed(recognizer);
      this.#report(recognizer, error ?? new AppError("unavailable", "ended too early"));
      if (hasWords) failures = 0;
      const wait = Math.min(WAIT_MS.most, WAIT_MS.least * 2 ** failures);
      // The first recognizer that takes over is not kept waiting.
      if (failures >= others.length) await sleep(wait, undefined, { signal: this.abortSignal }).catch(() => {});
    }
    if (!this.output.closed) this.output.close();
  }

  async #pump(): Promise<void> {
    for await (const frame of this.input) {
      if (typeof frame === "symbol") continue;
      this.#keep(frame);
      this.#push((open) => open.pushFrame(frame));
    }
    this.#hasInputEnded = true;
    this.#push((open) => open.endInput());
  }

  /** Ignores errors, because a stream that has failed may have closed its input. */
  #push(push: (open: stt.SpeechStream) => void): void {
    try {
      if (this.#open) push(this.#open);
    } catch {}
  }

  #keep(frame: AudioFrame): void {
    this.#unrecognized.push(frame);
    this.#seconds += secondsOf(frame);
    while (this.#seconds > REPLAYED_SECONDS) {
      const oldest = this.#unrecognized.shift();
      if (oldest) this.#seconds -= secondsOf(oldest);
    }
  }

  /** Passes on what a recognizer hears until its stream ends. */
  async #listen(recognizer: stt.STT): Promise<{ readonly hasWords: boolean; readonly error: unknown }> {
    let hasWords = false;
    let error: unknown;
    this.#recognizer.listening = recognizer;
    try {
      const open = handled(recognizer.stream({ connOptions: CONNECT }), (failure) => (error ??= failure));
      this.#open = open;
      open.startTimeOffset = this.startTimeOffset;
      for (const frame of this.#unrecognized) open.pushFrame(frame);
      if (this.#hasInputEnded) open.endInput();
      for await (const event of open) {
        if (this.closed) break;
        hasWords = this.#take(event) || hasWords;
      }
    } catch (failure) {
      error ??= failure;
    }
    this.#open?.close();
    this.#open = undefined;
    return { hasWords, error };
  }

  /** @returns whether the event contains words. @throws if it is not a valid event */
  #take(event: stt.SpeechEvent): boolean {
    const { FINAL_TRANSCRIPT, INTERIM_TRANSCRIPT, PREFLIGHT_TRANSCRIPT, RECOGNITION_USAGE } = stt.SpeechEventType;
    if (event.type === RECOGNITION_USAGE) return false;
    const text: unknown = event.alternatives?.[0]?.text;
    const isTranscript = [FINAL_TRANSCRIPT, INTERIM_TRANSCRIPT, PREFLIGHT_TRANSCRIPT].includes(event.type);
    if (isTranscript && typeof text !== "string") throw new AppError("unavailable", "a transcript without a text");
    if (event.type === FINAL_TRANSCRIPT && text !== "") {
      this.#unrecognized = [];
      this.#seconds = 0;
    }
    this.output.put(event);
    return isTranscript && text !== "";
  }

  #report(recognizer: stt.STT, problem: unknown): void {
    const error = problem instanceof Error ? problem : new Error(String(problem));
    const details = { type: "stt_error", timestamp: Date.now(), label: pluginName(recognizer) } as const;
    // AgentSession ends at an error that is not recoverable.
    this.#recognizer.emit("error", { ...details, error, recoverable: true });
  }
}

function secondsOf({ samplesPerChannel, sampleRate }: AudioFrame): number {
  return samplesPerChannel / sampleRate;
}
