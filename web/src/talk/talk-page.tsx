import { useAgent } from "@parley/react";
import { type ReactNode, useState } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { DeviceTools } from "../device/tools.tsx";
import { FileTools } from "../files/file-tools.tsx";
import { EventLog } from "../panels/developer/event-log.tsx";
import { PermissionDialog } from "../permissions/permission-dialog.tsx";
import { Panel, PanelButton, type PanelName } from "../panels/panels.tsx";
import { TurnLog } from "../panels/developer/turn-log.tsx";
import { UsageLog } from "../panels/developer/usage-log.tsx";
import { Reachability } from "../problems/reachability.tsx";
import { AgentSound } from "../voice/agent-sound.tsx";
import { useCaptions } from "../voice/captions.ts";
import { Announcer } from "./announcer.tsx";
import { Conversation } from "./conversation.tsx";
import { Present } from "./present.tsx";
import { ExactText } from "../shared/exact-text.tsx";
import { useFocusFallback } from "./use-focus-fallback.ts";
import { useWords } from "../shared/words/words.ts";

interface TalkPageProps {
  readonly onLeave: () => void;
  readonly onRejoin: () => void;
}

export function TalkPage({ onLeave, onRejoin }: TalkPageProps): ReactNode {
  const words = useWords();
  const { liveKit } = useJoinedTalk();
  const { name = "Parley" } = useAgent();
  const [panel, setPanel] = useState<PanelName>();
  useFocusFallback();
  useCaptions(liveKit);
  return (
    <UsageLog>
      <Reachability>
        <div className="page">
          <header className="bar">
            <PanelButton name="conversations" open={panel} onToggle={setPanel} />
            <h1 className="brand">
              <img src="/icon.svg" alt="" width="28" height="28" />
              <ExactText>{name}</ExactText>
            </h1>
            <Present />
            <PanelButton name="developer" open={panel} onToggle={setPanel} />
            <PanelButton name="settings" open={panel} onToggle={setPanel} />
            <button type="button" onClick={() => onLeave()}>
              {words.talk.leave}
            </button>
          </header>
          <Conversation onRejoin={onRejoin} />
          <EventLog>
            <TurnLog>{panel && <Panel key={panel} name={panel} onClose={() => setPanel(undefined)} />}</TurnLog>
          </EventLog>
          <PermissionDialog />
          <DeviceTools />
          <FileTools />
          <AgentSound />
          <Announcer />
        </div>
      </Reachability>
    </UsageLog>
  );
}
