import { watchedValue } from "../../shared/watched-value.ts";

const KEY = "parley.developer";

const isOn = watchedValue(localStorage.getItem(KEY) === "on");

/** Whether the page offers what only developers need: turns' timings and events. Remembered by this browser. */
export const useDeveloperView = isOn.use;

export function setDeveloperView(isShown: boolean): void {
  isOn.set(isShown);
  localStorage.setItem(KEY, isShown ? "on" : "off");
}
