import { watchedValue } from "../shared/watched-value.ts";

const KEY = "parley.sound";

const isOn = watchedValue(localStorage.getItem(KEY) !== "off");

/** Whether this page plays what the agent and others say. Remembered by this browser. */
export const useSound = isOn.use;

export function setSound(isPlaying: boolean): void {
  isOn.set(isPlaying);
  localStorage.setItem(KEY, isPlaying ? "on" : "off");
}
