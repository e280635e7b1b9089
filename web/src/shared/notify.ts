import { watchedValue } from "./watched-value.ts";

const KEY = "parley.notify";

/** Whether the browser has notifications, and lets the page show them. */
function isAllowed(): boolean {
  return "Notification" in window && Notification.permission === "granted";
}

const isOn = watchedValue(localStorage.getItem(KEY) === "on" && isAllowed());

/** Whether the browser shows a notification when the agent waits while this tab is in the background. */
export const useNotifies = isOn.use;

/** Turns notifications on or off. Resolves to whether that worked: the person may refuse them to the page. */
export async function setNotifies(isWanted: boolean): Promise<boolean> {
  if (isWanted && "Notification" in window) await Notification.requestPermission();
  const isNowOn = isWanted && isAllowed();
  isOn.set(isNowOn);
  localStorage.setItem(KEY, isNowOn ? "on" : "off");
  return isNowOn === isWanted;
}
