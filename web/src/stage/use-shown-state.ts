import { type AgentState, isOpen, useAgentState, useToolCalls } from "@parley/react";
import { RoomEvent } from "livekit-client";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { useIsUnreachable } from "../problems/reachability.tsx";
import { useRoomValue } from "../shared/use-room-value.ts";
import { useIsMicrophoneOpen } from "../voice/microphone-state.ts";

export type ShownState = AgentState | "ready" | "hearing";

/** States in which the agent can hear the person. */
const HEARING: readonly AgentState[] = ["listening", "thinking", "speaking"];
const SPEAKER_EVENTS = [RoomEvent.ActiveSpeakersChanged];

/** Returns what the agent is doing, as this person sees it. */
export function useShownState(): ShownState {
  const { liveKit, identity } = useJoinedTalk();
  const isHearing = useIsMicrophoneOpen();
  const isLoud = useRoomValue(liveKit, SPEAKER_EVENTS, ({ localParticipant }) => localParticipant.isSpeaking);
  const { state: agentState } = useAgentState();
  const isAsked = useToolCalls().some(
    (call) => call.name === "ask_user" && call.addressee === identity && isOpen(call),
  );
  const seen = agentState === "using_tool" && isAsked ? "waiting_for_permission" : agentState;
  const state = useIsUnreachable() ? "disconnected" : seen;
  if (isHearing && isLoud && HEARING.includes(state)) return "hearing";
  return state === "listening" && !isHearing ? "ready" : state;
}
