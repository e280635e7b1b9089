import { type Room, RoomEvent } from "livekit-client";
import { useCallback, useSyncExternalStore } from "react";
import { wantMicrophone } from "../join/browser-storage.ts";
import { watchedValue } from "../shared/watched-value.ts";

/** How long the microphone stays on if nobody subscribes to its track. A worker that listens subscribes immediately. */
const SUBSCRIBED_WITHIN_MS = 5_000;

export type MicrophoneProblem = "denied" | "missing" | "nobody_listens" | "failed";

interface MicrophoneState {
  readonly isOn: boolean;
  readonly isStarting: boolean;
  readonly problem: MicrophoneProblem | undefined;
}

const OFF: MicrophoneState = { isOn: false, isStarting: false, problem: undefined };

const isOnNow = watchedValue(false);
/** Whether the page's microphone is on. */
export const useIsMicrophoneOn = isOnNow.use;

/** The microphone in one room: whether it is on, and why it does not work. */
class Microphone {
  state = OFF;
  readonly #room: Room;
  readonly #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isSubscribed = false;

  constructor(room: Room) {
    this.#room = room;
    room.on(RoomEvent.LocalTrackSubscribed, () => {
      this.#isSubscribed = true;
      clearTimeout(this.#timer);
    });
    room.on(RoomEvent.Disconnected, () => this.#set(OFF));
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
    for (const listener of this.#listeners) listener();
  }
}

const microphones = new WeakMap<Room, Microphone>();

function microphoneOf(room: Room): Microphone {
  const known = microphones.get(room) ?? new Microphone(room);
  microphones.set(room, known);
  return known;
}

export function useMicrophone(room: Room): MicrophoneState & { readonly turn: (isOn: boolean) => void } {
  const microphone = microphoneOf(room);
  const state = useSyncExternalStore(microphone.subscribe, () => microphone.state);
  const turn = useCallback(
    (isOn: boolean) => {
      wantMicrophone(isOn);
      void microphone.turn(isOn);
    },
    [microphone],
  );
  return { ...state, turn };
}

function problemOf(error: unknown): MicrophoneProblem {
  const name = error instanceof Error ? error.name : "";
  if (name === "NotAllowedError") return "denied";
  return name === "NotFoundError" || name === "OverconstrainedError" ? "missing" : "failed";
}
