import {
  RoomEvent,
  TrackSource,
  type Participant,
  type RemoteParticipant,
  type RemoteTrackPublication,
  type Room,
} from "@livekit/rtc-node";
import { isPerson } from "../../session/room/room-input.ts";

interface MicrophonesOptions {
  readonly room: Room;
  /** Called when the agent starts listening to another participant, or with `undefined` if it listens to nobody. */
  readonly onSpeaker: (identity: string | undefined) => void;
  /** Whether the current participant is speaking. If so, no other participant is chosen. */
  readonly isBusy: () => boolean;
}

/**
 * The microphones of a room. The agent subscribes to all of them, but listens to one participant at a time. It starts
 * with the first participant to publish a microphone, and switches to anyone who speaks while the current participant
 * is silent. LiveKit notifies participants when their microphone is subscribed to, so the agent subscribes only once
 * the AgentSession can hear them (`open`).
 */
export class Microphones {
  readonly #options: MicrophonesOptions;
  #speaker: string | undefined;
  #isOpen = false;

  constructor(options: MicrophonesOptions) {
    this.#options = options;
    const { room } = options;
    room.on(RoomEvent.TrackPublished, this.#onPublished);
    room.on(RoomEvent.TrackUnpublished, this.#onUnpublished);
    room.on(RoomEvent.ParticipantDisconnected, this.#onGone);
    room.on(RoomEvent.ActiveSpeakersChanged, this.#onActiveSpeakers);
  }

  /** Call this once the room is connected. */
  start(): void {
    for (const participant of this.#options.room.remoteParticipants.values())
      for (const publication of participant.trackPublications.values()) this.#onPublished(publication, participant);
  }

  /** Subscribes to all microphones, including later ones. */
  open(): void {
    this.#isOpen = true;
    for (const participant of this.#options.room.remoteParticipants.values())
      if (isPerson(participant)) for (const each of microphonesOf(participant)) each.setSubscribed(true);
  }

  /** Listens to this participant if they have a microphone and the current participant is not speaking. */
  prefer(identity: string): void {
    const participant = this.#options.room.remoteParticipants.get(identity);
    if (participant && hasMicrophone(participant) && !this.#options.isBusy()) this.#listenTo(identity);
  }

  close(): void {
    const { room } = this.#options;
    room.off(RoomEvent.TrackPublished, this.#onPublished);
    room.off(RoomEvent.TrackUnpublished, this.#onUnpublished);
    room.off(RoomEvent.ParticipantDisconnected, this.#onGone);
    room.off(RoomEvent.ActiveSpeakersChanged, this.#onActiveSpeakers);
  }

  readonly #onPublished = (publication: RemoteTrackPublication, participant: RemoteParticipant): void => {
    if (publication.source !== TrackSource.SOURCE_MICROPHONE || !isPerson(participant)) return;
    if (this.#isOpen) publication.setSubscribed(true);
    if (this.#speaker === undefined) this.#listenTo(participant.identity);
  };

  readonly #onUnpublished = (_publication: RemoteTrackPublication, participant: RemoteParticipant): void => {
    if (!hasMicrophone(participant)) this.#onGone(participant);
  };

  readonly #onGone = ({ identity }: RemoteParticipant): void => {
    if (identity !== this.#speaker) return;
    const others = [...this.#options.room.remoteParticipants.values()];
    const next = others.find((each) => each.identity !== identity && isPerson(each) && hasMicrophone(each));
    this.#listenTo(next?.identity);
  };

  readonly #onActiveSpeakers = (speakers: readonly Participant[]): void => {
    if (this.#options.isBusy() || speakers.some(({ identity }) => identity === this.#speaker)) return;
    const { remoteParticipants } = this.#options.room;
    const next = speakers.find(({ identity }) => {
      const participant = remoteParticipants.get(identity);
      return participant !== undefined && isPerson(participant) && hasMicrophone(participant);
    });
    if (next) this.#listenTo(next.identity);
  };

  #listenTo(identity: string | undefined): void {
    if (identity === this.#speaker) return;
    this.#speaker = identity;
    this.#options.onSpeaker(identity);
  }
}

function microphonesOf({ trackPublications }: RemoteParticipant): RemoteTrackPublication[] {
  return [...trackPublications.values()].filter(({ source }) => source === TrackSource.SOURCE_MICROPHONE);
}

function hasMicrophone(participant: RemoteParticipant): boolean {
  return microphonesOf(participant).length > 0;
}
