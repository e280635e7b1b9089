import { setTimeout as sleep } from "node:timers/promises";
import {
  AudioFrame,
  AudioSource,
  AudioStream,
  LocalAudioTrack,
  RoomEvent,
  TrackKind,
  TrackPublishOptions,
  TrackSource,
  type RemoteTrack,
} from "@livekit/rtc-node";
import { EspeakSynthesizer } from "../../src/voice/espeak/espeak-synthesizer.ts";
import { findEspeak } from "../../src/voice/espeak/find-espeak.ts";
import { type Participant } from "./participant.ts";

/** Samples a second of `speechOf`. */
export const SPEECH_RATE = 22_050;
const FRAME_SAMPLES = SPEECH_RATE / 50;
/** Root mean square of 16-bit samples above which a frame is sound. */
const LOUD = 200;
const PAUSE_MS = 500;

const espeak = await findEspeak(process.env);
const spoken = new Map<string, Promise<Int16Array>>();

/** What espeak-ng makes of a text; made once for each. */
export function speechOf(text: string): Promise<Int16Array> {
  const known = spoken.get(text) ?? synthesize(text);
  spoken.set(text, known);
  return known;
}

async function synthesize(text: string): Promise<Int16Array> {
  if (!espeak) throw new Error("No espeak-ng");
  const synthesizer = new EspeakSynthesizer(espeak, "en");
  const samples: number[] = [];
  const { signal } = new AbortController();
  const words = async function* () {
    yield text;
  };
  for await (const { data } of synthesizer.speak(words(), { language: "en", signal })) samples.push(...data);
  await synthesizer.close();
  return Int16Array.from(samples);
}

/** A participant with a microphone and with ears: what it says and hears is real sound. */
export class Speaker {
  readonly client: Participant;
  /** `performance.now()` of each 10 ms of sound that came from the agent. */
  readonly #heardAt: number[] = [];
  readonly #source = new AudioSource(SPEECH_RATE, 1, 1_000);
  readonly #connected = Promise.withResolvers<void>();
  readonly #closing = new AbortController();
  #pending: Int16Array = new Int16Array();
  #quiet = Promise.withResolvers<void>();
  #pump: Promise<void> | undefined;

  /** The client must be in the room. */
  constructor(client: Participant) {
    this.client = client;
    const { room } = client;
    room.on(RoomEvent.TrackPublished, (publication) => {
      if (publication.kind === TrackKind.KIND_AUDIO) publication.setSubscribed(true);
    });
    room.on(RoomEvent.TrackSubscribed, (track) => void this.#listen(track));
    for (const participant of room.remoteParticipants.values())
      for (const publication of participant.trackPublications.values()) publication.setSubscribed(true);
  }

  /** Publishes the microphone: silence, while nothing is said. */
  async publish(): Promise<void> {
    const track = LocalAudioTrack.createAudioTrack("microphone", this.#source);
    const options = new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE });
    await this.client.room.localParticipant?.publishTrack(track, options);
    this.#pump = this.#run();
  }

  /** Resolves when the agent's track is subscribed to. */
  async untilConnected(): Promise<void> {
    await this.#connected.promise;
    // The agent learns of it a moment later, and no event says so here.
    await sleep(500);
  }

  /** Says it; resolves when its last sound has been sent. @returns `performance.now()` of the beginning and the end */
  async say(text: string): Promise<{ readonly from: number; readonly to: number }> {
    const speech = await speechOf(text);
    this.#quiet = Promise.withResolvers<void>();
    const from = performance.now();
    this.#pending = speech;
    await this.#quiet.promise;
    return { from, to: performance.now() };
  }

  /** Resolves when sound comes from the agent after `since`. @returns when it began */
  async untilSound(since = 0, timeoutMs = 15_000): Promise<number> {
    const first = () => this.#heardAt.find((at) => at > since);
    await this.#until(() => first() !== undefined, timeoutMs, "sound");
    return first() ?? 0;
  }

  /** Resolves when the agent has been silent for so long. @returns when the last sound was heard */
  async untilSilence(ms = 1_000, timeoutMs = 20_000): Promise<number> {
    await this.#until(() => performance.now() - (this.#heardAt.at(-1) ?? 0) > ms, timeoutMs, "silence");
    return this.#heardAt.at(-1) ?? 0;
  }

  /** Seconds of sound from the agent in this time. */
  secondsHeard(from = 0, to = Number.POSITIVE_INFINITY): number {
    return this.#heardAt.filter((at) => at >= from && at <= to).length / 100;
  }

  /** How many times the agent began to speak in this time, after a pause that is longer than one between words. */
  timesHeard(from = 0, to = Number.POSITIVE_INFINITY): number {
    const heard = this.#heardAt.filter((at) => at >= from && at <= to);
    return heard.filter((at, index) => at - (heard[index - 1] ?? 0) > PAUSE_MS).length;
  }

  /** When the agent's last sound before this moment was heard. */
  lastSoundBefore(moment: number): number {
    return this.#heardAt.findLast((at) => at < moment) ?? 0;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#pump;
    await this.#source.close();
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      // A copy of its own: a frame sends its whole buffer.
      const samples = new Int16Array(FRAME_SAMPLES);
      samples.set(this.#pending.slice(0, FRAME_SAMPLES));
      this.#pending = this.#pending.slice(FRAME_SAMPLES);
      await this.#source.captureFrame(new AudioFrame(samples, SPEECH_RATE, 1, FRAME_SAMPLES));
      if (this.#source.queuedDuration > 60) await sleep(20);
      if (this.#pending.length === 0) this.#quiet.resolve();
    }
  }

  async #listen(track: RemoteTrack): Promise<void> {
    if (track.kind !== TrackKind.KIND_AUDIO) return;
    this.#connected.resolve();
    const frames = new AudioStream(track, { sampleRate: 16_000, numChannels: 1, frameSizeMs: 10 });
    for await (const { data } of frames) {
      const power = data.reduce((sum, sample) => sum + sample * sample, 0) / data.length;
      if (Math.sqrt(power) > LOUD) this.#heardAt.push(performance.now());
    }
  }

  async #until(condition: () => boolean, timeoutMs: number, what: string): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!condition()) {
      if (performance.now() > deadline) throw new Error(`No ${what} came from the agent`);
      await sleep(10);
    }
  }
}
