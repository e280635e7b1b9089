import { watchedValue } from "../shared/watched-value.ts";

const KEY = "parley.sound";
const VOLUME_KEY = "parley.volume";

const isOn = watchedValue(localStorage.getItem(KEY) !== "off");

/** Returns whether this page plays the agent and the other participants. Remembered by this browser. */
export const useSound = isOn.use;

export function setSound(isPlaying: boolean): void {
  isOn.set(isPlaying);
  localStorage.setItem(KEY, isPlaying ? "on" : "off");
}

const volume = watchedValue(Number(localStorage.getItem(VOLUME_KEY) ?? 1));

/** Returns the page's volume, from 0 to 1. Remembered by this browser. */
export const useVolume = volume.use;

export const getVolume = volume.get;

export function setVolume(loudness: number): void {
  volume.set(loudness);
  localStorage.setItem(VOLUME_KEY, String(loudness));
}
