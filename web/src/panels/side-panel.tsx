import { type KeyboardEvent, type ReactNode, useState } from "react";
import { EventsPanel } from "./events-panel.tsx";
import { TalkPanel } from "./talk-panel.tsx";
import { ToolsPanel } from "./tools-panel.tsx";
import { TurnPanel } from "./turn-panel.tsx";

const TABS = {
  tools: { title: "Tools", Panel: ToolsPanel },
  turn: { title: "Turn", Panel: TurnPanel },
  events: { title: "Events", Panel: EventsPanel },
  talk: { title: "Session", Panel: TalkPanel },
} as const;
type Tab = keyof typeof TABS;
const NAMES = Object.keys(TABS) as readonly Tab[];

interface SidePanelProps {
  /** Whether the panel covers the messages on a narrow page. */
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** The panels next to the messages: this device's tools, the turns' timings, the events, and the conversations. */
export function SidePanel({ isOpen, onClose }: SidePanelProps): ReactNode {
  const [tab, setTab] = useState<Tab>("tools");
  const { Panel } = TABS[tab];
  const onKeyDown = ({ key, currentTarget }: KeyboardEvent<HTMLElement>) => {
    const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const next = NAMES.at((NAMES.indexOf(tab) + step) % NAMES.length) ?? tab;
    setTab(next);
    currentTarget.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  };
  return (
    <aside
      className="panel"
      data-open={isOpen}
      aria-label="Details"
      onKeyDown={({ key }) => {
        if (key === "Escape" && isOpen) onClose();
      }}
    >
      <div className="tabs" role="tablist" aria-label="Details" onKeyDown={onKeyDown}>
        {NAMES.map((name) => (
          <button
            type="button"
            key={name}
            id={`tab-${name}`}
            role="tab"
            aria-selected={tab === name}
            aria-controls="tab-panel"
            tabIndex={tab === name ? 0 : -1}
            onClick={() => setTab(name)}
          >
            {TABS[name].title}
          </button>
        ))}
      </div>
      <button type="button" className="panel-close" onClick={onClose}>
        Close
      </button>
      <div id="tab-panel" className="tab-panel" role="tabpanel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        <Panel />
      </div>
    </aside>
  );
}
