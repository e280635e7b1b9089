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
import { abortable } from "../../lib/abortable.ts";
import type { Synthesizer } from "../../voice/providers/synthesizer.ts";

/** The sample rate in both directions. LiveKit sends 10 ms at a time, which must be a whole number of samples. */
export const SPEECH_RATE = 16_000;
const BLOCK_MS = 10;
/** The root mean square of 16-bit samples above which a block of 10 ms counts as sound. */
const LOUD = 200;
const QUEUE_MS = 1_000;
/** The minimum amount of audio to send ahead, in case this process is late. */
const LEAD_MS = 60;
const CHECK_EVERY_MS = 10;
/** A sound that is shorter than this may not be noticed as speech. */
const NOTICED_MS = 100;

const NOT_LISTENING = "The agent did not subscribe to the microphone in time. Is STT set to none?";
const NO_VOICE = "The agent did not publish audio in time. Is TTS set to none?";

/** Synthesizes a string with espeak-ng. @returns 16-bit samples at `SPEECH_RATE` */
export async function synthesize(espeak: Synthesizer, text: string, language = "en"): Promise<Int16Array> {
  const { signal } = new AbortController();
  const words = async function* () {
    yield text;
  };
  const samples: number[] = [];
  let resampler: AudioResampler | undefined;
  for await (const frame of espeak.speak(words(), { language, signal })) {
    resampler ??= new AudioResampler(frame.sampleRate, SPEECH_RATE);
    for (const { data } of resampler.push(frame)) samples.push(...data);
  }
  for (const { data } of resampler?.flush() ?? []) samples.push(...data);
  resampler?.close();
  return Int16Array.from(samples);
}

/** Returns one value per 10 ms of a speech: whether that block contains sound. */
export function loudBlocks(speech: Int16Array, rate = SPEECH_RATE): boolean[] {
  const length = (rate * BLOCK_MS) / 1_000;
  return Array.from({ length: Math.ceil(speech.length / length) }, (_, block) => {
    const samples = speech.subarray(block * length, (block + 1) * length);
    return samples.reduce((sum, sample) => sum + sample * sample, 0) > LOUD * LOUD * samples.length;
  });
}

/** Returns how much of a speech is sound and not silence, in ms. */
export function soundMs(speech: Int16Array): number {
  return loudBlocks(speech).filter(Boolean).length * BLOCK_MS;
}

/** A participant's microphone and speaker, with real audio. */
export class Speaker {
  /** `performance.now()` at the end of each 10 ms of sound from the agent. */
  readonly heardAt: number[] = [];
  readonly #room: Room;
  readonly #frameMs: number;
  readonly #source = new AudioSource(SPEECH_RATE, 1, QUEUE_MS);
  readonly #voice = Promise.withResolvers<void>();
  readonly #closing = new AbortController();
  #pending: Int16Array = new Int16Array();
  #onSpoken: (endsAt: number) => void = () => {};
  #pump: Promise<void> | undefined;
  #microphone: LocalTrackPublication | undefined;

  /**
   * @param room the participant's room, already connected
   * @param frameMs how much audio is sent and read at once, in ms, a multiple of 10. Longer frames cost less if many
   *   speakers share a process.
   */
  constructor(room: Room, frameMs = 20) {
    this.#room = room;
    this.#frameMs = frameMs;
    room.on(RoomEvent.TrackPublished, (publication, participant) => subscribe(publication, participant));
    room.on(RoomEvent.TrackSubscribed, (track) => void this.#listen(track).catch(() => {}));
    for (const participant of room.remoteParticipants.values())
      for (const publication of participant.trackPublications.values()) subscribe(publication, participant);
  }

  /** Publishes the microphone, which sends silence between utterances. */
  async publish(): Promise<void> {
    const track = LocalAudioTrack.createAudioTrack("microphone", this.#source);
    const options = new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE });
    this.#microphone = await this.#room.localParticipant?.publishTrack(track, options);
    this.#pump = this.#run();
  }

  /**
   * Resolves when the participant is subscribed to the agent's track and the agent to the microphone.
   *
   * @throws {Error} naming the missing subscription, on a timeout
   */
  async untilConnected(timeoutMs = 15_000): Promise<void> {
    const signal = AbortSignal.timeout(timeoutMs);
    const [microphone, voice] = await Promise.allSettled([
      abortable(Promise.resolve(this.#microphone?.waitForSubscription()), signal),
      abortable(this.#voice.promise, signal),
    ]);
    const missing = [microphone.status === "rejected" && NOT_LISTENING, voice.status === "rejected" && NO_VOICE].filter(
      Boolean,
    );
    if (missing.length > 0) throw new Error(missing.join(" "));
  }

  /**
   * Whether more than `NOTICED_MS` of sound are still to be sent. Silence at the end of a speech does not count: a
   * listener may notice it before all of it was sent.
   */
  get isTalking(): boolean {
    return soundMs(this.#pending) > NOTICED_MS;
  }

  /**
   * Plays recorded speech. Resolves once the last sample has been played.
   *
   * @returns `performance.now()` at its start and its end
   */
  async play(speech: Int16Array): Promise<{ readonly from: number; readonly to: number }> {
    const from = performance.now() + this.#source.queuedDuration;
    const said = Promise.withResolvers<number>();
    this.#onSpoken = said.resolve;
    this.#pending = speech;
    const to = await said.promise;
    await sleep(Math.max(0, to - performance.now()));
    return { from, to };
  }

  /** Resolves when the agent has made a sound after `since`. @returns its time @throws {Error} on a timeout */
  async untilSound(since = 0, timeoutMs = 15_000): Promise<number> {
    // The times are in order, so each check needs only the last one.
    await this.until(() => (this.heardAt.at(-1) ?? 0) > since, timeoutMs, "sound");
    return this.heardAt.find((at) => at > since) ?? 0;
  }

  /**
   * Resolves when the agent has been silent for `ms`.
   *
   * @returns the time of its last sound
   * @throws {Error} if it keeps speaking
   */
  async untilSilence(ms = 1_000, timeoutMs = 20_000): Promise<number> {
    await this.until(() => performance.now() - (this.heardAt.at(-1) ?? 0) > ms, timeoutMs, "silence");
    return this.heardAt.at(-1) ?? 0;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#pump;
    this.#onSpoken(performance.now());
    await this.#source.close();
  }

  protected async until(condition: () => boolean, timeoutMs: number, what: string): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!condition()) {
      if (performance.now() > deadline) throw new Error(`There was no ${what} from the agent in time`);
      await sleep(CHECK_EVERY_MS);
    }
  }

  async #run(): Promise<void> {
    const length = (SPEECH_RATE * this.#frameMs) / 1_000;
    const leadMs = Math.max(LEAD_MS, 2 * this.#frameMs);
    while (!this.#closing.signal.aborted) {
      // Copy the samples, because a frame sends its whole buffer.
      const samples = new Int16Array(length);
      const part = this.#pending.subarray(0, length);
      samples.set(part);
      this.#pending = this.#pending.subarray(part.length);
      await this.#source.captureFrame(new AudioFrame(samples, SPEECH_RATE, 1, length));
      if (this.#pending.length === 0) {
        const silenceMs = ((length - part.length) / SPEECH_RATE) * 1_000;
        this.#onSpoken(performance.now() + this.#source.queuedDuration - silenceMs);
      }
      await sleep(Math.max(0, this.#source.queuedDuration - leadMs));
    }
  }

  async #listen(track: RemoteTrack): Promise<void> {
    if (track.kind !== TrackKind.KIND_AUDIO) return;
    this.#voice.resolve();
    const frames = new AudioStream(track, { sampleRate: SPEECH_RATE, numChannels: 1, frameSizeMs: this.#frameMs });
    for await (const { data } of frames) {
      const now = performance.now();
      const blocks = loudBlocks(data);
      for (const [index, isLoud] of blocks.entries())
        if (isLoud) this.heardAt.push(now - (blocks.length - 1 - index) * BLOCK_MS);
    }
  }
}

/** Subscribes to the agent only, not to other participants. */
function subscribe(publication: RemoteTrackPublication, { kind }: RemoteParticipant): void {
  if (publication.kind === TrackKind.KIND_AUDIO && kind === ParticipantKind.AGENT) publication.setSubscribed(true);
}
