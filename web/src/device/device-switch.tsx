import type { ReactNode } from "react";
import { Switch } from "../shared/switch.tsx";
import { type DeviceTool, setSwitch, useSwitches } from "./switches.ts";
import { useWords } from "../shared/words/words.ts";

interface DeviceSwitchProps {
  readonly tool: DeviceTool;
}

/** A list row with a switch for one of this device's tools. */
export function DeviceSwitch({ tool }: DeviceSwitchProps): ReactNode {
  const { title, hint } = useWords().settings.tools[tool];
  const switches = useSwitches();
  return (
    <li>
      <Switch isOn={switches[tool]} title={title} hint={hint} onChange={(isOn) => setSwitch(tool, isOn)} />
    </li>
  );
}
