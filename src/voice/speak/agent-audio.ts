import { setTimeout as sleep } from "node:timers/promises";
import { type voice } from "@livekit/agents";
import { RoomEvent, type RemoteParticipant, type Room } from "@livekit/rtc-node";
import { createAudioOutput, publishUntilSubscribed } from "../../livekit/audio-output.ts";
import { isPerson } from "../../session/room/room-input.ts";

/** Who subscribes by itself (LiveKit's default) has done so this long after it could. */
const SUBSCRIBED_BY_MS = 2_000;

interface AgentAudioOptions {
  readonly room: Room;
  /** Somebody listens, for the first time. */
  readonly onListener: () => void;
}

/**
 * The agent's audio track: published for the first participant, and used only once somebody has subscribed to it. Who only
 * reads never does, and costs no speech.
 */
export class AgentAudio {
  readonly output: voice.ParticipantAudioOutput;
  readonly #options: AgentAudioOptions;
  readonly #closing = new AbortController();
  /** Resolves when somebody has subscribed; undefined: nothing is published. */
  #subscribed: Promise<boolean> | undefined;
  /** By `performance.now()`. */
  #expectedUntil = 0;
  /** Somebody is in the room whom LiveKit has not announced to us. */
  #isAheadOfNews = false;

  constructor(options: AgentAudioOptions) {
    this.#options = options;
    this.output = createAudioOutput(options.room);
    options.room.on(RoomEvent.ParticipantConnected, this.#onConnected);
  }

  /** Call once the room is connected. */
  start(): void {
    const others = [...this.#options.room.remoteParticipants.values()];
    if (others.some(isPerson)) this.#expect();
  }

  /** Somebody has said something: it is in the room, also when its announcement, which takes LiveKit up to 3 s, is to come. */
  notePresence(): void {
    if (this.#subscribed) return;
    this.#isAheadOfNews = true;
    this.#expect();
  }

  get hasListener(): boolean {
    return this.output.subscribed && this.#options.room.remoteParticipants.size > 0;
  }

  /** Somebody has only just come, and may be about to listen. */
  get isExpected(): boolean {
    return performance.now() < this.#expectedUntil;
  }

  /** Resolves as soon as it is known whether somebody listens who has only just come. */
  async untilListener(): Promise<boolean> {
    const over = new AbortController();
    const leftMs = Math.max(0, this.#expectedUntil - performance.now());
    const tooLate = sleep(leftMs, false, { signal: over.signal }).catch(() => false);
    const isThere = await Promise.race([this.#subscribed ?? false, tooLate]);
    over.abort();
    return isThere;
  }

  async close(): Promise<void> {
    this.#options.room.off(RoomEvent.ParticipantConnected, this.#onConnected);
    this.#closing.abort();
    await this.output.close();
  }

  readonly #onConnected = (participant: RemoteParticipant): void => {
    if (!isPerson(participant)) return;
    if (!this.#isAheadOfNews) this.#expect();
    this.#isAheadOfNews = false;
  };

  #expect(): void {
    this.#expectedUntil = performance.now() + SUBSCRIBED_BY_MS;
    this.#subscribed ??= this.#publish();
  }

  /** Resolves when somebody has subscribed to it. */
  async #publish(): Promise<boolean> {
    if (!(await publishUntilSubscribed(this.output, this.#closing.signal))) return false;
    this.#options.onListener();
    return true;
  }
}
