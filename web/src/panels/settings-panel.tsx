import type { ReactNode } from "react";
import { DeviceSwitch } from "../device/device-switch.tsx";
import { PAGE_TOOLS } from "../device/page-tools.ts";
import { FolderChoice } from "../files/folder-choice.tsx";
import { Grants } from "../permissions/grants.tsx";
import { LoudspeakerChoice } from "../voice/loudspeaker-choice.tsx";
import { Switch } from "../shared/switch.tsx";
import { MicrophoneChoice } from "../voice/microphone-choice.tsx";
import { PushToTalkChoice } from "../voice/push-to-talk-choice.tsx";
import { NotifyChoice } from "./notify-choice.tsx";
import { setDeveloperView, useDeveloperView } from "./developer/developer-view.ts";
import { useWords } from "../shared/words/words.ts";
import { LanguageChoice } from "./language-choice.tsx";

/** The settings for the microphone and the loudspeaker, and for this device's tools, folder and permissions. */
export function SettingsPanel(): ReactNode {
  const { settings: words } = useWords();
  const isDeveloper = useDeveloperView();
  return (
    <div className="panel-body">
      <LanguageChoice />
      <section>
        <h3>{words.sound}</h3>
        <MicrophoneChoice />
        <PushToTalkChoice />
        <LoudspeakerChoice />
      </section>
      <section>
        <h3>{words.onThisDevice}</h3>
        <ul className="rows">
          {PAGE_TOOLS.map((tool) => (
            <DeviceSwitch key={tool} tool={tool} />
          ))}
        </ul>
      </section>
      <FolderChoice />
      <Grants />
      <NotifyChoice />
      <section>
        <h3>{words.forDevelopers}</h3>
        <Switch isOn={isDeveloper} title={words.developerView} hint={words.developerHint} onChange={setDeveloperView} />
      </section>
    </div>
  );
}
