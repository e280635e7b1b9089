import { setTimeout as sleep } from "node:timers/promises";
import {
  AudioFrame,
  AudioResampler,
  AudioSource,
  AudioStream,
  LocalAudioTrack,
  ParticipantKind,
  RoomEvent,
  TrackKind,
  TrackPublishOptions,
  TrackSource,
  type LocalTrackPublication,
  type RemoteParticipant,
  type RemoteTrack,
  type RemoteTrackPublication,
  type Room,
} from "@livekit/rtc-node";
import type { Synthesizer } from "../../voice/providers/synthesizer.ts";

/** Samples a second of what is said. */
export const SPEECH_RATE = 22_050;
const FRAME_SAMPLES = SPEECH_RATE / 50;
/** LiveKit sends 10 ms at a time. At a rate at which this is no whole number of samples, it loses 2 ms a second. */
const SENT_RATE = 48_000;
/** Root mean square of 16-bit samples above which a frame is sound. */
const LOUD = 200;

/** Speaks a text with espeak-ng. @returns 16-bit samples at `SPEECH_RATE` */
export async function synthesize(espeak: Synthesizer, text: string, language = "en"): Promise<Int16Array> {
  const { signal } = new AbortController();
  const words = async function* () {
    yield text;
  };
  const samples: number[] = [];
  for await (const { data } of espeak.speak(words(), { language, signal })) samples.push(...data);
  return Int16Array.from(samples);
}

export function isLoud(samples: Int16Array): boolean {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length) > LOUD;
}

/** The microphone and the ears of a participant: what it says and hears is real sound. */
export class Speaker {
  /** `performance.now()` of each 10 ms of sound that came from the agent. */
  readonly heardAt: number[] = [];
  readonly #room: Room;
  readonly #source = new AudioSource(SENT_RATE, 1, 1_000);
  readonly #resampler = new AudioResampler(SPEECH_RATE, SENT_RATE);
  readonly #connected = Promise.withResolvers<void>();
  readonly #closing = new AbortController();
  #pending: Int16Array = new Int16Array();
  #said = Promise.withResolvers<void>();
  #pump: Promise<void> | undefined;
  #microphone: LocalTrackPublication | undefined;

  /** @param room the participant's, already connected */
  constructor(room: Room) {
    this.#room = room;
    room.on(RoomEvent.TrackPublished, (publication, participant) => subscribe(publication, participant));
    room.on(RoomEvent.TrackSubscribed, (track) => void this.#listen(track));
    for (const participant of room.remoteParticipants.values())
      for (const publication of participant.trackPublications.values()) subscribe(publication, participant);
  }

  /** Publishes the microphone, which sends silence while nothing is said. */
  async publish(): Promise<void> {
    const track = LocalAudioTrack.createAudioTrack("microphone", this.#source);
    const options = new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE });
    this.#microphone = await this.#room.localParticipant?.publishTrack(track, options);
    this.#pump = this.#run();
  }

  /** Resolves when the agent's track is subscribed to, and the agent has subscribed to the microphone. */
  async untilConnected(): Promise<void> {
    await Promise.all([this.#connected.promise, this.#microphone?.waitForSubscription()]);
  }

  /** Whether some of the speech is still to be sent. */
  get isTalking(): boolean {
    return this.#pending.length > 0;
  }

  /** Says it. Resolves when its last sound has gone out. @returns `performance.now()` of its beginning and its end */
  async play(speech: Int16Array): Promise<{ readonly from: number; readonly to: number }> {
    const from = performance.now() + this.#source.queuedDuration;
    this.#said = Promise.withResolvers<void>();
    this.#pending = speech;
    await this.#said.promise;
    await sleep(this.#source.queuedDuration);
    return { from, to: performance.now() };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#pump;
    this.#said.resolve();
    await this.#source.close();
    this.#resampler.close();
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      // A copy, because a frame sends its whole buffer.
      const samples = new Int16Array(FRAME_SAMPLES);
      samples.set(this.#pending.slice(0, FRAME_SAMPLES));
      this.#pending = this.#pending.slice(FRAME_SAMPLES);
      const spoken = new AudioFrame(samples, SPEECH_RATE, 1, FRAME_SAMPLES);
      for (const frame of this.#resampler.push(spoken)) await this.#source.captureFrame(frame);
      if (this.#source.queuedDuration > 60) await sleep(20);
      if (this.#pending.length === 0) this.#said.resolve();
    }
  }

  async #listen(track: RemoteTrack): Promise<void> {
    if (track.kind !== TrackKind.KIND_AUDIO) return;
    this.#connected.resolve();
    const frames = new AudioStream(track, { sampleRate: 16_000, numChannels: 1, frameSizeMs: 10 });
    for await (const { data } of frames) if (isLoud(data)) this.heardAt.push(performance.now());
  }
}

/** Subscribes to the agent alone, not to other participants. */
function subscribe(publication: RemoteTrackPublication, { kind }: RemoteParticipant): void {
  if (publication.kind === TrackKind.KIND_AUDIO && kind === ParticipantKind.AGENT) publication.setSubscribed(true);
}
