import type { ReactNode } from "react";
import { Switch } from "../shared/switch.tsx";
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
      <Switch isOn={switches[tool]} title={title} hint={hint} onChange={(isOn) => setSwitch(tool, isOn)} />
    </li>
  );
}
