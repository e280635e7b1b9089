import type { ReactNode } from "react";
import { type DeviceTool, setSwitch, useSwitches } from "./switches.ts";

interface DeviceSwitchProps {
  readonly tool: DeviceTool;
  readonly title: string;
  readonly hint: string;
}

/** A list row with a switch for one of this device's tools. */
export function DeviceSwitch({ tool, title, hint }: DeviceSwitchProps): ReactNode {
  const switches = useSwitches();
  return (
    <li>
      <label className="switch">
        <input
          type="checkbox"
          role="switch"
          checked={switches[tool]}
          onChange={({ target: { checked } }) => setSwitch(tool, checked)}
        />
        <span>
          <strong>{title}</strong>
          <small>{hint}</small>
        </span>
      </label>
    </li>
  );
}
