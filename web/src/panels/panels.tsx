import type { ComponentType, ReactNode } from "react";
import { IconButton } from "../shared/icon-button.tsx";
import { ConversationsPanel } from "./conversations-panel.tsx";
import { DeveloperPanel } from "./developer/developer-panel.tsx";
import { useDeveloperView } from "./developer/developer-view.ts";
import { SettingsPanel } from "./settings-panel.tsx";
import { useWords } from "../shared/words/words.ts";

export type PanelName = "conversations" | "settings" | "developer";

interface PanelKind {
  /** An SVG path in a 24 by 24 box, drawn as a line. */
  readonly path: string;
  readonly side: "start" | "end";
  readonly Content: ComponentType;
}

const PANELS: Readonly<Record<PanelName, PanelKind>> = {
  conversations: {
    path: "M4 6h16M4 12h16M4 18h10",
    side: "start",
    Content: ConversationsPanel,
  },
  settings: {
    path: "M4 7h8m5 0h3M4 17h3m5 0h8M14.5 4.5v5m-5 5v5",
    side: "end",
    Content: SettingsPanel,
  },
  developer: { path: "m8 7-5 5 5 5m8-10 5 5-5 5", side: "end", Content: DeveloperPanel },
};

interface PanelButtonProps {
  readonly name: PanelName;
  readonly open: PanelName | undefined;
  readonly onToggle: (open: PanelName | undefined) => void;
}

/** Opens and closes a panel. */
export function PanelButton({ name, open, onToggle }: PanelButtonProps): ReactNode {
  const { title } = useWords()[name];
  const { path } = PANELS[name];
  const isOpen = open === name;
  const hasDeveloperView = useDeveloperView();
  if (name === "developer" && !hasDeveloperView) return null;
  return (
    <IconButton
      id={idOfButton(name)}
      label={title}
      path={path}
      isExpanded={isOpen}
      onClick={() => onToggle(isOpen ? undefined : name)}
    />
  );
}

interface PanelProps {
  readonly name: PanelName;
  readonly onClose: () => void;
}

/** A panel beside the conversation. On a narrow page, it covers the conversation. */
export function Panel({ name, onClose }: PanelProps): ReactNode {
  const words = useWords();
  const { side, Content } = PANELS[name];
  const close = () => {
    onClose();
    document.getElementById(idOfButton(name))?.focus();
  };
  return (
    <aside
      className="panel"
      data-side={side}
      aria-labelledby="panel-title"
      onKeyDown={({ key }) => {
        if (key === "Escape") close();
      }}
    >
      <div className="panel-head">
        <h2 id="panel-title">{words[name].title}</h2>
        <button type="button" className="panel-close" onClick={close} autoFocus>
          {words.close}
        </button>
      </div>
      <Content />
    </aside>
  );
}

function idOfButton(name: PanelName): string {
  return `open-${name}`;
}
