import { type AgentState, isOpen, useAgentState, useToolCalls } from "@parley/react";
import { RoomEvent } from "livekit-client";
import { type ReactNode, useEffect } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { useIsUnreachable } from "../problems/reachability.tsx";
import { useRoomValue } from "../shared/use-room-value.ts";
import { useIsMicrophoneOn } from "../voice/microphone-state.ts";

const WORDS: Readonly<Record<AgentState | "ready" | "hearing", string>> = {
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
/** States in which the agent can hear the person. */
const HEARING: readonly AgentState[] = ["listening", "thinking", "speaking"];
const SPEAKER_EVENTS = [RoomEvent.ActiveSpeakersChanged];

/** Shows what the agent is doing. Screen readers do not announce this, because `Announcer` announces turns. */
export function AgentBadge(): ReactNode {
  const { liveKit, identity } = useJoinedTalk();
  const isOn = useIsMicrophoneOn();
  const isLoud = useRoomValue(liveKit, SPEAKER_EVENTS, ({ localParticipant }) => localParticipant.isSpeaking);
  const { state: told } = useAgentState();
  const isAsked = useToolCalls().some(
    (call) => call.name === "ask_user" && call.addressee === identity && isOpen(call),
  );
  const seen = told === "using_tool" && isAsked ? "waiting_for_permission" : told;
  const state = useIsUnreachable() ? "disconnected" : seen;
  const quiet = state === "listening" && !isOn ? "ready" : state;
  const shown = isOn && isLoud && HEARING.includes(state) ? "hearing" : quiet;
  useEffect(() => {
    // The title is visible even when the tab is in the background.
    document.title = state === "waiting_for_permission" ? "Waiting for you – Parley" : "Parley";
    return () => {
      document.title = "Parley";
    };
  }, [state]);
  return (
    <p className="badge" data-state={shown}>
      <span className="dot" aria-hidden="true" />
      <span className="visually-hidden">The agent: </span>
      {WORDS[shown]}
    </p>
  );
}
