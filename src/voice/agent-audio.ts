import { voice } from "@livekit/agents";
import { ParticipantKind, RoomEvent, TrackPublishOptions, TrackSource, type Room } from "@livekit/rtc-node";

const SAMPLE_RATE = 24_000;
const QUEUE_MS = 200;

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
  #isPublished = false;

  constructor(options: AgentAudioOptions) {
    this.#options = options;
    this.output = new voice.ParticipantAudioOutput(options.room, {
      sampleRate: SAMPLE_RATE,
      numChannels: 1,
      queueSizeMs: QUEUE_MS,
      trackPublishOptions: new TrackPublishOptions({ source: TrackSource.SOURCE_MICROPHONE }),
    });
    options.room.on(RoomEvent.ParticipantConnected, this.#publish);
  }

  /** Call once the room is connected. */
  start(): void {
    const others = [...this.#options.room.remoteParticipants.values()];
    if (others.some(({ kind }) => kind !== ParticipantKind.AGENT)) this.#publish();
  }

  get hasListener(): boolean {
    return this.output.subscribed && this.#options.room.remoteParticipants.size > 0;
  }

  async close(): Promise<void> {
    this.#options.room.off(RoomEvent.ParticipantConnected, this.#publish);
    this.#closing.abort();
    await this.output.close();
  }

  readonly #publish = (): void => {
    if (this.#isPublished) return;
    this.#isPublished = true;
    this.output.start(this.#closing.signal).then(
      () => {
        if (!this.#closing.signal.aborted) this.#options.onListener();
      },
      () => {},
    );
  };
}
