import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import {
  AudioSource,
  AudioStream,
  LocalAudioTrack,
  RoomEvent,
  TrackKind,
  TrackPublishOptions,
  TrackSource,
  type RemoteTrack,
  type Room,
} from "@livekit/rtc-node";
import { toAudioFrame } from "../../livekit/audio-frame.ts";
import { programEnvironment } from "../../tool/program-environment.ts";
import { SOUND_RATE, type SoundPrograms } from "./sound-programs.ts";

/** Samples of 10 ms, the unit in which LiveKit sends. */
const BLOCK = SOUND_RATE / 100;
/** A second of sound. */
const MAX_WAITING_BYTES = 2 * SOUND_RATE;
/** Variables that say where the sound server or the device is. */
const SOUND_VARIABLES = ["XDG_RUNTIME_DIR", "PULSE_SERVER", "PULSE_COOKIE", "PIPEWIRE_REMOTE", "AUDIODEV"];

/**
 * Connects a room with this machine's microphone and loudspeaker, by programs that record and play. Create it before
 * the room is connected, so that no track is missed.
 */
export class RoomSound implements Disposable {
  readonly #room: Room;
  readonly #programs: SoundPrograms;
  readonly #onProblem: (text: string) => void;
  readonly #source = new AudioSource(SOUND_RATE, 1);
  readonly #children = new Set<ChildProcess>();

  constructor(room: Room, programs: SoundPrograms, onProblem: (text: string) => void) {
    this.#room = room;
    this.#programs = programs;
    this.#onProblem = onProblem;
    // Each track has its own player, because the sound of several participants overlaps.
    room.on(RoomEvent.TrackSubscribed, (track) => {
      if (track.kind === TrackKind.KIND_AUDIO) void this.#play(track).catch(() => {});
    });
  }

  /** Publishes the microphone in the connected room. */
  async publishMicrophone(): Promise<void> {
    const track = LocalAudioTrack.createAudioTrack("microphone", this.#source);
    const options = new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE });
    await this.#room.localParticipant?.publishTrack(track, options);
    const { stdout } = this.#start(this.#programs.record);
    if (stdout) void this.#send(stdout).catch(() => {});
  }

  [Symbol.dispose](): void {
    for (const child of this.#children) child.kill();
    this.#children.clear();
    void this.#source.close();
  }

  async #send(samples: Readable): Promise<void> {
    let rest = Buffer.alloc(0);
    for await (const chunk of samples as AsyncIterable<Buffer>) {
      const bytes = Buffer.concat([rest, chunk]);
      const length = bytes.length - (bytes.length % (2 * BLOCK));
      rest = bytes.subarray(length);
      if (length === 0) continue;
      // A copy, because an Int16Array must start at an even place of its buffer.
      const whole = new Int16Array(new Uint8Array(bytes.subarray(0, length)).buffer);
      await this.#source.captureFrame(toAudioFrame(whole, SOUND_RATE));
    }
  }

  async #play(track: RemoteTrack): Promise<void> {
    const { stdin } = this.#start(this.#programs.play);
    for await (const { data } of new AudioStream(track, { sampleRate: SOUND_RATE, numChannels: 1 })) {
      if (stdin?.writable !== true) return;
      // A player that hangs must not fill the memory.
      if (stdin.writableLength < MAX_WAITING_BYTES) stdin.write(Buffer.from(data.slice().buffer));
    }
    stdin?.end();
  }

  #start([name, ...args]: SoundPrograms["record"]): ChildProcess {
    const env = programEnvironment(...SOUND_VARIABLES);
    const child = spawn(name, args, { env, stdio: ["pipe", "pipe", "inherit"] });
    this.#children.add(child);
    // A program that has exited takes no more samples.
    child.stdin.on("error", () => {});
    child.on("error", ({ message }) => this.#onProblem(message));
    child.on("exit", (code) => {
      const isOurs = this.#children.delete(child);
      if (isOurs && code !== 0) this.#onProblem(`${name} exited with status ${code}`);
    });
    return child;
  }
}
