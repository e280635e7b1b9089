import type { ReactNode } from "react";
import { Presence } from "../voice/presence.tsx";
import { useAttention } from "./use-attention.ts";
import { type ShownState, useShownState } from "./use-shown-state.ts";

const WORDS: Readonly<Record<ShownState, string>> = {
  disconnected: "Not connected",
  connecting: "Waiting for the agent",
  ready: "Ready",
  listening: "Listening",
  hearing: "Hearing you",
  thinking: "Thinking",
  speaking: "Speaking",
  using_tool: "Using a tool",
  waiting_for_permission: "Waiting for you",
  failed: "No agent",
};

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
  const state = useShownState();
  useAttention(state === "waiting_for_permission");
  return (
    <div className="stage" data-state={state} data-empty={isEmpty}>
      <Presence />
      <p className="badge">
        <span className="visually-hidden">The agent: </span>
        {WORDS[state]}
      </p>
      {children}
    </div>
  );
}
