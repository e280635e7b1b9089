import { type KeyboardEvent, type ReactNode, useState } from "react";
import { EventsPanel } from "./events-panel.tsx";
import { SessionPanel } from "./session-panel.tsx";
import { TurnPanel } from "./turn-panel.tsx";
import { useWords } from "../../shared/words/words.ts";

const TABS = { turn: TurnPanel, events: EventsPanel, session: SessionPanel } as const;
type Tab = keyof typeof TABS;
const NAMES = Object.keys(TABS) as readonly Tab[];

/** The turns' timings, the worker's messages, and the conversation's cost. */
export function DeveloperPanel(): ReactNode {
  const { developer: words } = useWords();
  const [tab, setTab] = useState<Tab>("turn");
  const Content = TABS[tab];
  const onKeyDown = ({ key, currentTarget }: KeyboardEvent<HTMLElement>) => {
    const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const next = NAMES.at((NAMES.indexOf(tab) + step) % NAMES.length) ?? tab;
    setTab(next);
    currentTarget.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  };
  return (
    <>
      <div className="tabs" role="tablist" aria-label={words.title} onKeyDown={onKeyDown}>
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
            {words[name]}
          </button>
        ))}
      </div>
      <div id="tab-panel" className="panel-body" role="tabpanel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        <Content />
      </div>
    </>
  );
}
