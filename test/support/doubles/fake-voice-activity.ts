import { ReadableStream, type ReadableStreamDefaultController } from "node:stream/web";
import { type VADEvent, VADEventType } from "@livekit/agents";
import { toAudioFrame } from "../../../src/livekit/audio-frame.ts";
import { NOTICED_SILENCE_MS } from "../../../src/voice/listen/voice-activity.ts";

/** One sample per millisecond is enough, because nobody listens to this sound. */
export const FAKE_RATE = 1_000;
/** The length of the sound that is judged at once, as in LiveKit's model. */
export const WINDOW_MS = 32;
const MIN_SPEECH_MS = 50;

/** Voice activity detection that is told what is speech. Its events are those of LiveKit's model. */
export class FakeVoiceActivity {
  #sound: number[] = [];
  #index = 0;
  #speechMs = 0;
  #silenceMs = 0;
  #isSpeaking = false;

  get isSpeaking(): boolean {
    return this.#isSpeaking;
  }

  /** How long the current speech has lasted. */
  get speechMs(): number {
    return this.#speechMs;
  }

  /** Hears the next window, and returns the events that this causes. */
  hear(samples: Int16Array, isSpeech: boolean): VADEvent[] {
    this.#index += samples.length;
    if (isSpeech || this.#isSpeaking) this.#sound.push(...samples);
    this.#speechMs = isSpeech ? this.#speechMs + WINDOW_MS : this.#isSpeaking ? this.#speechMs : 0;
    this.#silenceMs = isSpeech ? 0 : this.#silenceMs + WINDOW_MS;
    if (!this.#isSpeaking && !isSpeech) this.#sound = [];
    const events = [this.#event(VADEventType.INFERENCE_DONE, samples, isSpeech)];
    if (!this.#isSpeaking && this.#speechMs >= MIN_SPEECH_MS) {
      this.#isSpeaking = true;
      events.push(this.#event(VADEventType.START_OF_SPEECH, Int16Array.from(this.#sound), isSpeech));
    } else if (this.#isSpeaking && this.#silenceMs >= NOTICED_SILENCE_MS) {
      this.#isSpeaking = false;
      events.push(this.#event(VADEventType.END_OF_SPEECH, Int16Array.from(this.#sound), isSpeech));
      this.#sound = [];
      this.#speechMs = 0;
    }
    return events;
  }

  #event(type: VADEventType, samples: Int16Array, isSpeech: boolean): VADEvent {
    return {
      type,
      samplesIndex: this.#index,
      timestamp: Date.now(),
      speechDuration: this.#speechMs,
      silenceDuration: this.#silenceMs,
      frames: [toAudioFrame(samples, FAKE_RATE)],
      probability: isSpeech ? 1 : 0,
      inferenceDuration: 0,
      speaking: this.#isSpeaking,
      rawAccumulatedSilence: this.#silenceMs,
      rawAccumulatedSpeech: isSpeech ? this.#speechMs : 0,
    };
  }
}

/** The stream of a `VoiceActivity` whose events come from elsewhere. */
export class FakeActivityStream extends ReadableStream<VADEvent> {
  #controller: ReadableStreamDefaultController<VADEvent> | undefined;
  #hasBegun = false;

  constructor() {
    let own: ReadableStreamDefaultController<VADEvent> | undefined;
    super({ start: (controller) => void (own = controller) });
    this.#controller = own;
  }

  put(event: VADEvent): void {
    // Speech that began before the stream is not known to it.
    this.#hasBegun ||= event.type === VADEventType.START_OF_SPEECH;
    if (this.#hasBegun) this.#controller?.enqueue(event);
  }

  pushFrame(): void {}

  flush(): void {}

  close(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }
}
