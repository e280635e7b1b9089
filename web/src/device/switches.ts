import { watchedValue } from "../shared/watched-value.ts";

/** A tool on this device that the person can turn on and off. */
export type DeviceTool =
  | "show_notification"
  | "ask_user"
  | "get_location"
  | "read_clipboard"
  | "take_photo"
  | "read_local_file"
  | "list_local_files";

const KEY = "parley.device";
/** Tools that read personal data are off by default. */
const DEFAULTS: Readonly<Record<DeviceTool, boolean>> = {
  show_notification: true,
  ask_user: true,
  get_location: false,
  read_clipboard: false,
  take_photo: false,
  read_local_file: false,
  list_local_files: false,
};

const switches = watchedValue(load());

export const useSwitches = switches.use;

/** Turns a tool on or off. The tool's component then registers or withdraws the tool, which notifies the worker. */
export function setSwitch(tool: DeviceTool, isOn: boolean): void {
  switches.set({ ...switches.get(), [tool]: isOn });
  localStorage.setItem(KEY, JSON.stringify(switches.get()));
}

function load(): Readonly<Record<DeviceTool, boolean>> {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as object) };
  } catch {
    return DEFAULTS;
  }
}
