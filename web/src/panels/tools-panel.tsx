import type { ReactNode } from "react";
import { DeviceSwitch } from "../device/device-switch.tsx";
import type { DeviceTool } from "../device/switches.ts";
import { FolderChoice } from "../files/folder-choice.tsx";
import { Grants } from "../permissions/grants.tsx";
import { LoudspeakerChoice } from "../voice/loudspeaker-choice.tsx";
import { MicrophoneChoice } from "../voice/microphone-choice.tsx";

const TOOLS: readonly (readonly [DeviceTool, string, string])[] = [
  ["show_notification", "Notifications", "A short text on this page"],
  ["ask_user", "Ask me", "A form on this page that waits for your answer"],
  ["get_location", "Location", "Where this device is; the browser also asks you"],
  ["read_clipboard", "Clipboard", "The text you copied last"],
  ["take_photo", "Camera", "One small picture; the browser also asks you"],
];

/** The settings for this device's tools, folder, permissions, microphone and loudspeaker. */
export function ToolsPanel(): ReactNode {
  return (
    <>
      <section>
        <h2>On this device</h2>
        <ul className="rows">
          {TOOLS.map(([tool, title, hint]) => (
            <DeviceSwitch key={tool} tool={tool} title={title} hint={hint} />
          ))}
        </ul>
      </section>
      <FolderChoice />
      <Grants />
      <MicrophoneChoice />
      <LoudspeakerChoice />
    </>
  );
}
