import { setTimeout as sleep } from "node:timers/promises";
import {
  AudioFrame,
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
} from "@livekit/rtc-node";
import { EspeakSynthesizer, findEspeak } from "../../src/voice/providers/espeak/espeak-synthesizer.ts";
import type { Participant } from "./participant.ts";

/** Samples a second of `speechOf`. */
export const SPEECH_RATE = 22_050;
const FRAME_SAMPLES = SPEECH_RATE / 50;
/** Root mean square of 16-bit samples above which a frame is sound. */
const LOUD = 200;

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

/** How many seconds of it are sound, and not silence between words: what `secondsHeard` says when all of it was heard. */
export async function secondsOf(text: string): Promise<number> {
  const speech = await speechOf(text);
  const length = SPEECH_RATE / 100;
  let loud = 0;
  for (let at = 0; at < speech.length; at += length) if (isLoud(speech.subarray(at, at + length))) loud++;
  return loud / 100;
}

function isLoud(samples: Int16Array): boolean {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length) > LOUD;
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
  #microphone: LocalTrackPublication | undefined;

  /** The client must be in the room. */
  constructor(client: Participant) {
    this.client = client;
    const { room } = client;
    room.on(RoomEvent.TrackPublished, (publication, participant) => subscribe(publication, participant));
    room.on(RoomEvent.TrackSubscribed, (track) => void this.#listen(track));
    for (const participant of room.remoteParticipants.values())
      for (const publication of participant.trackPublications.values()) subscribe(publication, participant);
  }

  /** Publishes the microphone: silence, while nothing is said. */
  async publish(): Promise<void> {
    const track = LocalAudioTrack.createAudioTrack("microphone", this.#source);
    const options = new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE });
    this.#microphone = await this.client.room.localParticipant?.publishTrack(track, options);
    this.#pump = this.#run();
  }

  /** Resolves when the agent's track is subscribed to, and the agent has subscribed to the microphone. */
  async untilConnected(): Promise<void> {
    await Promise.all([this.#connected.promise, this.#microphone?.waitForSubscription()]);
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

  /** Resolves when so many seconds of sound have come from the agent after `since`. */
  async untilHeard(seconds: number, since = 0, timeoutMs = 15_000): Promise<void> {
    await this.#until(() => this.secondsHeard(since) >= seconds, timeoutMs, `${seconds} s of sound`);
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
    for await (const { data } of frames) if (isLoud(data)) this.#heardAt.push(performance.now());
  }

  async #until(condition: () => boolean, timeoutMs: number, what: string): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!condition()) {
      if (performance.now() > deadline) throw new Error(`No ${what} came from the agent`);
      await sleep(10);
    }
  }
}

/** To the agent's sound: what others say to it is none of ours. */
function subscribe(publication: RemoteTrackPublication, { kind }: RemoteParticipant): void {
  if (publication.kind === TrackKind.KIND_AUDIO && kind === ParticipantKind.AGENT) publication.setSubscribed(true);
}
