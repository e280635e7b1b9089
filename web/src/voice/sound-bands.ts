import {
  createAudioAnalyser,
  type LocalAudioTrack,
  ParticipantKind,
  type RemoteAudioTrack,
  type Room,
  RoomEvent,
  Track,
} from "livekit-client";

/** How loud a sound is in each of four bands, from low to high tones: 0 is silence, 1 is loud. */
export type Bands = readonly [number, number, number, number];

export const SILENCE: Bands = [0, 0, 0, 0];

/** The first analyzed frequency of each band, and the end of the last one. Each step is 188 Hz. */
const EDGES = [1, 3, 6, 11, 20] as const;
const ANALYSIS = { fftSize: 256, smoothingTimeConstant: 0.75, minDecibels: -75, maxDecibels: -25 };
/** Events after which another track may be heard. */
const EVENTS = [
  RoomEvent.TrackSubscribed,
  RoomEvent.TrackUnsubscribed,
  RoomEvent.LocalTrackPublished,
  RoomEvent.LocalTrackUnpublished,
  RoomEvent.TrackMuted,
  RoomEvent.TrackUnmuted,
];

type Heard = LocalAudioTrack | RemoteAudioTrack;
type Analyser = ReturnType<typeof createAudioAnalyser>;

/** Measures the sound of a room's agents and of the page's own microphone while they can be heard. */
export class SoundBands {
  readonly #room: Room;
  readonly #measured = new Map<Heard, Analyser>();

  constructor(room: Room) {
    this.#room = room;
  }

  /** Starts to measure. Returns a function that stops. */
  follow(): () => void {
    const look = () => this.#look();
    look();
    for (const event of EVENTS) this.#room.on(event as RoomEvent.Connected, look);
    return () => {
      for (const event of EVENTS) this.#room.off(event as RoomEvent.Connected, look);
      for (const track of this.#measured.keys()) this.#drop(track);
    };
  }

  /** Returns the bands of what is heard now, from whoever is loudest in each band. */
  read(): Bands {
    let loudest = SILENCE;
    for (const { analyser } of this.#measured.values()) loudest = louder(loudest, bandsOf(analyser));
    return loudest;
  }

  #look(): void {
    const heard = new Set(tracksOf(this.#room));
    for (const track of this.#measured.keys()) if (!heard.has(track)) this.#drop(track);
    for (const track of heard)
      if (!this.#measured.has(track)) this.#measured.set(track, createAudioAnalyser(track, ANALYSIS));
  }

  #drop(track: Heard): void {
    void this.#measured.get(track)?.cleanup();
    this.#measured.delete(track);
  }
}

function tracksOf({ localParticipant, remoteParticipants }: Room): readonly Heard[] {
  const own = localParticipant.getTrackPublication(Track.Source.Microphone);
  const agents = [...remoteParticipants.values()].filter(({ kind }) => kind === ParticipantKind.AGENT);
  const published = [own, ...agents.flatMap(({ trackPublications }) => [...trackPublications.values()])];
  return published.flatMap((each) =>
    each?.track && each.kind === Track.Kind.Audio && !each.isMuted ? (each.track as Heard) : [],
  );
}

function bandsOf(analyser: AnalyserNode): Bands {
  const tones = new Uint8Array(analyser.frequencyBinCount);
  analyser.getByteFrequencyData(tones);
  const band = (from: number, to: number) =>
    tones.slice(from, to).reduce((sum, tone) => sum + tone, 0) / (to - from) / 255;
  const [first, second, third, fourth, end] = EDGES;
  return [band(first, second), band(second, third), band(third, fourth), band(fourth, end)];
}

function louder(left: Bands, right: Bands): Bands {
  return left.map((level, index) => Math.max(level, right[index] ?? 0)) as unknown as Bands;
}
