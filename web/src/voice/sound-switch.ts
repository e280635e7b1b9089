import { watchedValue } from "../shared/watched-value.ts";

const KEY = "parley.sound";
const VOLUME_KEY = "parley.volume";

const isOn = watchedValue(localStorage.getItem(KEY) !== "off");

/** Whether this page plays what the agent and others say. Remembered by this browser. */
export const useSound = isOn.use;

export function setSound(isPlaying: boolean): void {
  isOn.set(isPlaying);
  localStorage.setItem(KEY, isPlaying ? "on" : "off");
}

const volume = watchedValue(Number(localStorage.getItem(VOLUME_KEY) ?? 1));

/** How loud this page is, from 0 to 1. Remembered by this browser. */
export const useVolume = volume.use;

export const getVolume = volume.get;

export function setVolume(loudness: number): void {
  volume.set(loudness);
  localStorage.setItem(VOLUME_KEY, String(loudness));
}
