import { type Room, RoomEvent, Track } from "livekit-client";
import { useCallback, useSyncExternalStore } from "react";
import { wantMicrophone } from "../join/browser-storage.ts";
import { type MicrophoneProblem, problemOf } from "../shared/microphone-problem.ts";
import { watchedValue } from "../shared/watched-value.ts";

/** How long the microphone stays on if nobody subscribes to its track. A worker that listens subscribes immediately. */
const SUBSCRIBED_WITHIN_MS = 5_000;

interface MicrophoneState {
  readonly isOn: boolean;
  readonly isStarting: boolean;
  readonly problem: MicrophoneProblem | undefined;
}

const OFF: MicrophoneState = { isOn: false, isStarting: false, problem: undefined };

const isOnNow = watchedValue(false);
/** Whether the page's microphone is on. */
export const useIsMicrophoneOn = isOnNow.use;

const isOpenNow = watchedValue(false);
/** Whether the page's microphone is on and lets sound through. */
export const useIsMicrophoneOpen = isOpenNow.use;

/** The microphone in one room: whether it is on, and why it does not work. */
class Microphone {
  state = OFF;
  readonly #room: Room;
  readonly #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isSubscribed = false;
  /** Whether the microphone lets sound through while it is on. */
  #isOpen = true;

  constructor(room: Room) {
    this.#room = room;
    room.on(RoomEvent.LocalTrackSubscribed, () => {
      this.#isSubscribed = true;
      clearTimeout(this.#timer);
    });
    room.on(RoomEvent.Disconnected, () => this.#set(OFF));
    // Another device has a track of its own.
    room.on(RoomEvent.ActiveDeviceChanged, () => this.#gate());
  }

  /**
   * Lets sound through, or replaces it by silence. Unlike turning the microphone off, this takes effect at once, so that
   * no first word is lost.
   */
  open(isOpen: boolean): void {
    this.#isOpen = isOpen;
    this.#gate();
    isOpenNow.set(this.state.isOn && isOpen);
  }

  #gate(): void {
    const track = this.#room.localParticipant.getTrackPublication(Track.Source.Microphone)?.track;
    if (track && !track.isMuted) track.mediaStreamTrack.enabled = this.#isOpen;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  async turn(isOn: boolean): Promise<void> {
    clearTimeout(this.#timer);
    this.#set({ isStarting: isOn, problem: undefined });
    try {
      await this.#room.localParticipant.setMicrophoneEnabled(isOn);
      this.#gate();
      this.#set({ isOn, isStarting: false });
      if (!isOn || this.#isSubscribed) return;
      this.#timer = setTimeout(() => void this.#giveUp(), SUBSCRIBED_WITHIN_MS);
    } catch (error) {
      this.#set({ isOn: false, isStarting: false, problem: problemOf(error) });
    }
  }

  /** Turns the microphone off again, because nobody subscribed to its track. */
  async #giveUp(): Promise<void> {
    await this.turn(false);
    this.#set({ problem: "nobody_listens" });
  }

  #set(change: Partial<MicrophoneState>): void {
    this.state = { ...this.state, ...change };
    isOnNow.set(this.state.isOn);
    isOpenNow.set(this.state.isOn && this.#isOpen);
    for (const listener of this.#listeners) listener();
  }
}

const microphones = new WeakMap<Room, Microphone>();

function microphoneOf(room: Room): Microphone {
  const known = microphones.get(room) ?? new Microphone(room);
  microphones.set(room, known);
  return known;
}

interface UsedMicrophone extends MicrophoneState {
  readonly turn: (isOn: boolean) => void;
  /** Lets sound through, or replaces it by silence, while the microphone is on. */
  readonly open: (isOpen: boolean) => void;
}

export function useMicrophone(room: Room): UsedMicrophone {
  const microphone = microphoneOf(room);
  const state = useSyncExternalStore(microphone.subscribe, () => microphone.state);
  const turn = useCallback(
    (isOn: boolean) => {
      wantMicrophone(isOn);
      void microphone.turn(isOn);
    },
    [microphone],
  );
  const open = useCallback((isOpen: boolean) => microphone.open(isOpen), [microphone]);
  return { ...state, turn, open };
}
