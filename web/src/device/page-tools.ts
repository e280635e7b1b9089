import type { DeviceTool } from "./switches.ts";

/** The tools that this device can offer to the agent, except those of a shared folder. */
export const PAGE_TOOLS: readonly DeviceTool[] = [
  "show_notification",
  "ask_user",
  "get_location",
  "read_clipboard",
  "take_photo",
];
