import { type AgentState, useAgentState } from "@parley/react";
import type { ReactNode } from "react";

const WORDS: Readonly<Record<AgentState, string>> = {
  disconnected: "Not connected",
  connecting: "Waiting for the agent",
  listening: "Listening",
  thinking: "Thinking",
  speaking: "Speaking",
  using_tool: "Using a tool",
  waiting_for_permission: "Waiting for you",
  failed: "No agent",
};

/** Shows what the agent does. Screen readers do not announce it: the announcer tells them of turns. */
export function AgentBadge(): ReactNode {
  const { state } = useAgentState();
  return (
    <p className="badge" data-state={state}>
      <span className="dot" aria-hidden="true" />
      <span className="visually-hidden">The agent: </span>
      {WORDS[state]}
    </p>
  );
}
