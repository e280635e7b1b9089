import { setTimeout as sleep } from "node:timers/promises";
// Types alone: loadRtcNode loads the module itself, so that its log does not reach stdout.
import type { LocalTrackPublication, RemoteTrack, Room } from "@livekit/rtc-node";
import { abortable } from "../../lib/abortable.ts";
import type { loadRtcNode } from "../../livekit/load-rtc-node.ts";
import { TalkError } from "../talk/talk-error.ts";
import { endOfSound, SAMPLE_RATE, startOfSound } from "./synthesize.ts";

type RtcNode = Awaited<ReturnType<typeof loadRtcNode>>;

/** Sound is sent and read in long frames, because many speakers share this process with the measurement. */
const SENT_MS = 100;
const SENT_SAMPLES = (SAMPLE_RATE * SENT_MS) / 1_000;
const HEARD_MS = 50;
/** How much sound is sent ahead, in case this process is late. */
const LEAD_MS = 200;
const QUEUE_MS = 1_000;
const LOOK_MS = 50;

const NO_EARS = "The agent does not listen: nobody subscribed to the microphone in time. Is STT none there?";
const NO_VOICE = "The agent has no voice: it published no sound in time. Is TTS none there?";

/** The microphone and the ears of a participant in a room with one agent. */
export class Speaker implements AsyncDisposable {
  readonly #room: Room;
  readonly #rtc: RtcNode;
  readonly #source: InstanceType<RtcNode["AudioSource"]>;
  readonly #closing = new AbortController();
  readonly #voice = Promise.withResolvers<void>();
  #microphone: LocalTrackPublication | undefined;
  #pump: Promise<void> | undefined;
  /** What is being said; silence is sent otherwise. */
  #speech: Int16Array = new Int16Array();
  #onSaid: (endedAt: number) => void = () => {};
  /** Told of each piece of sound from the agent, when it began. */
  #onSound: (startedAt: number) => void = () => {};
  #lastSoundAt = 0;

  /** @param room not connected yet; it must be connected with `autoSubscribe`, so that the agent's track is heard */
  constructor(room: Room, rtc: RtcNode) {
    this.#room = room;
    this.#rtc = rtc;
    this.#source = new rtc.AudioSource(SAMPLE_RATE, 1, QUEUE_MS);
    room.on(rtc.RoomEvent.TrackSubscribed, (track) => void this.#listen(track).catch(() => {}));
  }

  /** Publishes the microphone. Resolves when both ends hear each other. @throws {TalkError} when that takes too long */
  async connect(timeoutMs: number): Promise<void> {
    const { LocalAudioTrack, TrackPublishOptions, TrackSource } = this.#rtc;
    const track = LocalAudioTrack.createAudioTrack("microphone", this.#source);
    const options = new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE });
    this.#microphone = await this.#room.localParticipant?.publishTrack(track, options);
    this.#pump = this.#send();
    const signal = AbortSignal.timeout(timeoutMs);
    const both = [
      abortable(Promise.resolve(this.#microphone?.waitForSubscription()), signal),
      abortable(this.#voice.promise, signal),
    ];
    const [ears, voice] = await Promise.allSettled(both);
    const missing = [ears?.status === "rejected" && NO_EARS, voice?.status === "rejected" && NO_VOICE].filter(Boolean);
    if (missing.length > 0) throw new TalkError(missing.join(" "));
  }

  /** Says it. @returns when its last sound goes out, by `performance.now()`: this moment may lie ahead */
  async say(speech: Int16Array): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    this.#onSaid = resolve;
    this.#speech = speech;
    return await promise;
  }

  /** @returns when the agent's first sound after this moment was heard. @throws {TalkError} when none comes */
  async soundAfter(moment: number, timeoutMs: number): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    this.#onSound = (startedAt) => startedAt > moment && resolve(startedAt);
    return await abortable(promise, AbortSignal.timeout(timeoutMs)).catch(() => {
      throw new TalkError("The agent did not answer aloud: no sound came in time");
    });
  }

  /** Resolves when the agent has been silent for `ms`, or after `timeoutMs`. */
  async silence(ms: number, timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (performance.now() - this.#lastSoundAt < ms && performance.now() < deadline) await sleep(LOOK_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#pump;
    await this.#source.close();
  }

  async #send(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const samples = new Int16Array(SENT_SAMPLES);
      const part = this.#speech.subarray(0, SENT_SAMPLES);
      samples.set(part);
      this.#speech = this.#speech.subarray(part.length);
      await this.#source.captureFrame(new this.#rtc.AudioFrame(samples, SAMPLE_RATE, 1, SENT_SAMPLES));
      if (part.length > 0 && this.#speech.length === 0) {
        const silenceMs = SENT_MS - (part.length / SAMPLE_RATE) * 1_000;
        this.#onSaid(performance.now() + this.#source.queuedDuration - silenceMs);
      }
      await sleep(Math.max(0, this.#source.queuedDuration - LEAD_MS));
    }
  }

  async #listen(track: RemoteTrack): Promise<void> {
    if (track.kind !== this.#rtc.TrackKind.KIND_AUDIO) return;
    this.#voice.resolve();
    const options = { sampleRate: SAMPLE_RATE, numChannels: 1, frameSizeMs: HEARD_MS };
    for await (const { data } of new this.#rtc.AudioStream(track, options)) {
      const start = startOfSound(data);
      if (start === undefined) continue;
      const before = performance.now() - (data.length / SAMPLE_RATE) * 1_000;
      this.#lastSoundAt = before + (endOfSound(data) / SAMPLE_RATE) * 1_000;
      this.#onSound(before + (start / SAMPLE_RATE) * 1_000);
    }
  }
}
