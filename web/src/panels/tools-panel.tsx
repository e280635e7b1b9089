import type { ReactNode } from "react";
import { type DeviceTool, setSwitch, useSwitches } from "../device/switches.ts";
import { Grants } from "../permissions/grants.tsx";
import { MicrophoneChoice } from "../voice/microphone-choice.tsx";

const TOOLS: readonly (readonly [DeviceTool, string, string])[] = [
  ["show_notification", "Show a notice", "A short text on this page"],
  ["ask_user", "Ask me", "A question here, which waits for your answer"],
  ["get_location", "Location", "Where this device is; the browser asks you, too"],
  ["read_clipboard", "Clipboard", "The text that you copied last"],
  ["take_photo", "Camera", "One small picture; the browser asks you, too"],
];

/** What the agent may use of this device. */
export function ToolsPanel(): ReactNode {
  const switches = useSwitches();
  return (
    <>
      <section>
        <h2>On this device</h2>
        <ul className="rows">
          {TOOLS.map(([name, title, hint]) => (
            <li key={name}>
              <label className="switch">
                <input
                  type="checkbox"
                  role="switch"
                  checked={switches[name]}
                  onChange={({ target: { checked } }) => setSwitch(name, checked)}
                />
                <span>
                  <strong>{title}</strong>
                  <small>{hint}</small>
                </span>
              </label>
            </li>
          ))}
        </ul>
      </section>
      <Grants />
      <MicrophoneChoice />
    </>
  );
}
