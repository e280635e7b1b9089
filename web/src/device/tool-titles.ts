import type { DeviceTool } from "./switches.ts";

/** The tools that this device can offer to the agent, with their titles and hints, except those of a shared folder. */
export const TOOL_TITLES: readonly (readonly [tool: DeviceTool, title: string, hint: string])[] = [
  ["show_notification", "Notifications", "A short text on this page"],
  ["ask_user", "Ask me", "A form on this page that waits for your answer"],
  ["get_location", "Location", "Where this device is; the browser also asks you"],
  ["read_clipboard", "Clipboard", "The text you copied last"],
  ["take_photo", "Camera", "One small picture; the browser also asks you"],
];
