import { type ReactNode, useRef, useState } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { Questions } from "../device/questions.tsx";
import { DeviceTools } from "../device/tools.tsx";
import { FileTools } from "../files/file-tools.tsx";
import { EventLog } from "../panels/event-log.tsx";
import { PermissionDialog } from "../permissions/permission-dialog.tsx";
import { SidePanel } from "../panels/side-panel.tsx";
import { TurnLog } from "../panels/turn-log.tsx";
import { UsageLog } from "../panels/usage-log.tsx";
import { Problems } from "../problems/problems.tsx";
import { Reachability } from "../problems/reachability.tsx";
import { toVisible } from "../shared/exact-json.ts";
import { AgentSound } from "../voice/agent-sound.tsx";
import { AgentBadge } from "./agent-badge.tsx";
import { Announcer } from "./announcer.tsx";
import { Composer } from "./composer.tsx";
import { MessageList } from "./message-list.tsx";
import { useFocusFallback } from "./use-focus-fallback.ts";

interface TalkPageProps {
  readonly onLeave: () => void;
  readonly onRejoin: () => void;
}

export function TalkPage({ onLeave, onRejoin }: TalkPageProps): ReactNode {
  const { identity, room } = useJoinedTalk();
  const [isPanelOpen, setPanelOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  useFocusFallback();
  return (
    <UsageLog>
      <Reachability>
        <div className="page">
          <header className="bar">
            <h1 className="brand">
              <img src="/icon.svg" alt="" width="28" height="28" />
              <span>Parley</span>
            </h1>
            <p className="where" title={`Room ${toVisible(room)}`}>
              <strong>{toVisible(identity)}</strong> in <strong>{toVisible(room)}</strong>
            </p>
            <AgentBadge />
            <button
              ref={opener}
              type="button"
              className="panel-switch"
              aria-expanded={isPanelOpen}
              onClick={() => setPanelOpen(!isPanelOpen)}
            >
              Details
            </button>
            <button type="button" onClick={() => onLeave()}>
              Leave
            </button>
          </header>
          <main className="talk" aria-label="Talk">
            <MessageList />
            <div className="foot">
              <Problems onRejoin={onRejoin} />
              <Questions />
              <Composer />
            </div>
          </main>
          <EventLog>
            <TurnLog>
              <SidePanel
                isOpen={isPanelOpen}
                onClose={() => {
                  setPanelOpen(false);
                  opener.current?.focus();
                }}
              />
            </TurnLog>
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
