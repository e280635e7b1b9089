import { setTimeout as sleep } from "node:timers/promises";
import type { voice } from "@livekit/agents";
import { RoomEvent, type RemoteParticipant, type Room } from "@livekit/rtc-node";
import { createAudioOutput, publishUntilSubscribed } from "../../livekit/audio-output.ts";
import { isPerson } from "../../session/room/room-input.ts";

/**
 * How long a participant who has joined may take to subscribe. A client that subscribes automatically (LiveKit's
 * default) needs less.
 */
const SUBSCRIBED_BY_MS = 2_000;
/**
 * How long to wait for a participant who joins while others are listening. The participant has usually subscribed by
 * then. We cannot know, because LiveKit reports only the first subscriber.
 */
const LATER_SUBSCRIBER_MS = 500;

interface AgentAudioOptions {
  readonly room: Room;
  /** Called once, when the first participant has subscribed to the track. */
  readonly onListener: () => void;
}

/**
 * The agent's audio track. It is published when the first participant joins, and used only once a participant has
 * subscribed to it. Clients that only read never subscribe, so no speech is generated for them.
 */
export class AgentAudio {
  readonly output: voice.ParticipantAudioOutput;
  readonly #options: AgentAudioOptions;
  readonly #closing = new AbortController();
  /**
   * Resolves to true once a participant has subscribed, or to false on failure. Undefined before the track is
   * published.
   */
  #subscribed: Promise<boolean> | undefined;
  /** The time by which a participant who joined should have subscribed, in `performance.now()` time. */
  #expectedUntil = 0;
  /** When a participant last joined, in `performance.now()` time. */
  #joinedAt = Number.NEGATIVE_INFINITY;
  /** Whether the room contains a participant whom LiveKit has not announced to us yet. */
  #hasUnannouncedParticipant = false;

  constructor(options: AgentAudioOptions) {
    this.#options = options;
    this.output = createAudioOutput(options.room);
    options.room.on(RoomEvent.ParticipantConnected, this.#onConnected);
  }

  /** Call this once the room is connected. */
  start(): void {
    const others = [...this.#options.room.remoteParticipants.values()];
    if (others.some(isPerson)) this.#expect();
  }

  /** Call this when a participant has sent something: LiveKit may announce the participant up to 3 s later. */
  handlePresence(identity: string): void {
    if (!this.#options.room.remoteParticipants.has(identity)) this.#joinedAt = performance.now();
    if (this.#subscribed) return;
    this.#hasUnannouncedParticipant = true;
    this.#expect();
  }

  get hasListener(): boolean {
    return this.output.subscribed && this.#options.room.remoteParticipants.size > 0;
  }

  /** Resolves once participants who have just joined have had a moment to subscribe. */
  async untilAllSubscribed(): Promise<void> {
    const leftMs = () => this.#joinedAt + LATER_SUBSCRIBER_MS - performance.now();
    while (leftMs() > 0) await sleep(leftMs());
  }

  /** Whether `untilAllSubscribed` resolves at once. */
  get haveAllSubscribed(): boolean {
    return performance.now() >= this.#joinedAt + LATER_SUBSCRIBER_MS;
  }

  /** Whether a participant joined recently and may still subscribe. */
  get isExpected(): boolean {
    return performance.now() < this.#expectedUntil;
  }

  /**
   * Resolves to true once a participant has subscribed, or to false if nobody has by the time `isExpected` becomes
   * false.
   */
  async untilListener(): Promise<boolean> {
    const subscribed = new AbortController();
    const leftMs = Math.max(0, this.#expectedUntil - performance.now());
    const tooLate = sleep(leftMs, false, { signal: subscribed.signal }).catch(() => false);
    const hasListener = await Promise.race([this.#subscribed ?? false, tooLate]);
    subscribed.abort();
    return hasListener;
  }

  async close(): Promise<void> {
    this.#options.room.off(RoomEvent.ParticipantConnected, this.#onConnected);
    this.#closing.abort();
    await this.output.close();
  }

  readonly #onConnected = (participant: RemoteParticipant): void => {
    if (!isPerson(participant)) return;
    this.#joinedAt = performance.now();
    if (!this.#hasUnannouncedParticipant) this.#expect();
    this.#hasUnannouncedParticipant = false;
  };

  #expect(): void {
    this.#expectedUntil = performance.now() + SUBSCRIBED_BY_MS;
    this.#subscribed ??= this.#publish();
  }

  async #publish(): Promise<boolean> {
    if (!(await publishUntilSubscribed(this.output, this.#closing.signal))) return false;
    this.#options.onListener();
    return true;
  }
}
