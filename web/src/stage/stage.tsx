import type { ReactNode } from "react";
import { Presence } from "../voice/presence.tsx";
import { useAttention } from "./use-attention.ts";
import { useShownState } from "./use-shown-state.ts";
import { useWords } from "../shared/words/words.ts";

interface StageProps {
  /** Whether nothing has been said yet. The agent's presence then fills the page. */
  readonly isEmpty: boolean;
  /** What to show below the agent's presence. */
  readonly children?: ReactNode;
}

/**
 * The agent's presence, and what the agent is doing. Screen readers do not announce this, because `Announcer` announces
 * turns.
 */
export function Stage({ isEmpty, children }: StageProps): ReactNode {
  const { stage: words } = useWords();
  const state = useShownState();
  useAttention(state === "waiting_for_permission");
  return (
    <div className="stage" data-state={state} data-empty={isEmpty}>
      <Presence />
      <p className="badge">
        <span className="visually-hidden">{words.agent}</span>
        {words.states[state]}
      </p>
      {children}
    </div>
  );
}
