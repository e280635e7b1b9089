import type { ReactNode } from "react";
import { DeviceSwitch } from "../device/device-switch.tsx";
import { TOOL_TITLES } from "../device/tool-titles.ts";
import { FolderChoice } from "../files/folder-choice.tsx";
import { Grants } from "../permissions/grants.tsx";
import { LoudspeakerChoice } from "../voice/loudspeaker-choice.tsx";
import { Switch } from "../shared/switch.tsx";
import { MicrophoneChoice } from "../voice/microphone-choice.tsx";
import { PushToTalkChoice } from "../voice/push-to-talk-choice.tsx";
import { NotifyChoice } from "./notify-choice.tsx";
import { setDeveloperView, useDeveloperView } from "./developer/developer-view.ts";

/** The settings for the microphone and the loudspeaker, and for this device's tools, folder and permissions. */
export function SettingsPanel(): ReactNode {
  const isDeveloper = useDeveloperView();
  return (
    <div className="panel-body">
      <section>
        <h3>Sound</h3>
        <MicrophoneChoice />
        <PushToTalkChoice />
        <LoudspeakerChoice />
      </section>
      <section>
        <h3>On this device</h3>
        <ul className="rows">
          {TOOL_TITLES.map(([tool, title, hint]) => (
            <DeviceSwitch key={tool} tool={tool} title={title} hint={hint} />
          ))}
        </ul>
      </section>
      <FolderChoice />
      <Grants />
      <NotifyChoice />
      <section>
        <h3>For developers</h3>
        <Switch
          isOn={isDeveloper}
          title="Developer view"
          hint="A panel with the times of turns, the worker’s messages and the cost"
          onChange={setDeveloperView}
        />
      </section>
    </div>
  );
}
