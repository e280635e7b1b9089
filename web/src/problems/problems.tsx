import { useAgentState, useTalk } from "@parley/react";
import { ConnectionState, DisconnectReason, RoomEvent } from "livekit-client";
import { type ReactNode, useEffect, useState } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { toVisible } from "../shared/exact-json.ts";
import { useRoomValue } from "../shared/use-room-value.ts";
import { BudgetProblem } from "./budget-problem.tsx";
import { ModelProblem } from "./model-problem.tsx";
import { useIsUnreachable } from "./reachability.tsx";
import { MICROPHONE_PROBLEMS } from "../shared/microphone-problem.ts";
import { useMicrophone } from "../voice/microphone-state.ts";

const STATE_EVENTS = [RoomEvent.ConnectionStateChanged];
const SOUND_EVENTS = [RoomEvent.AudioPlaybackStatusChanged];

/** Shows each problem in one sentence that says what to do about it. */
export function Problems({ onRejoin }: { readonly onRejoin: () => void }): ReactNode {
  const { liveKit } = useJoinedTalk();
  const { problem, isConnected } = useTalk();
  const { reason } = useAgentState();
  const { problem: microphone } = useMicrophone(liveKit);
  const connection = useRoomValue(liveKit, STATE_EVENTS, ({ state }) => state);
  const hasSound = useRoomValue(liveKit, SOUND_EVENTS, ({ canPlaybackAudio }) => canPlaybackAudio);
  const left = useLeft();
  const hadAgent = useHasBeen(isConnected);
  const isUnreachable = useIsUnreachable();
  const isOnline = connection === ConnectionState.Connected && !isUnreachable;
  const isTrying = connection === ConnectionState.Reconnecting || connection === ConnectionState.SignalReconnecting;
  return (
    <div className="problems" role="status">
      {left !== undefined && connection === ConnectionState.Disconnected && (
        <p className="problem">
          {left}{" "}
          <button type="button" onClick={onRejoin}>
            Join again
          </button>
        </p>
      )}
      {(isTrying || (connection === ConnectionState.Connected && isUnreachable)) && (
        <p className="problem">The connection is lost. Reconnecting; anything you write is sent afterwards.</p>
      )}
      {isOnline && reason === "workers_full" && (
        <p className="problem">All workers are full. Stay here: an agent joins as soon as a worker is free.</p>
      )}
      {isOnline && reason === "no_agent" && (
        <p className="problem">
          No agent has joined this room. Check that a worker is running (npm start); its agent then joins automatically.
        </p>
      )}
      {isOnline && hadAgent && !isConnected && reason === undefined && (
        <p className="problem">The agent has left. Another agent is joining, and the conversation will continue.</p>
      )}
      {microphone !== undefined && <p className="problem">{MICROPHONE_PROBLEMS[microphone]}</p>}
      {isOnline && !hasSound && (
        <p className="problem">
          The browser does not play sound until you allow it.{" "}
          <button type="button" onClick={() => void liveKit.startAudio()}>
            Play sound
          </button>
        </p>
      )}
      <BudgetProblem />
      <ModelProblem />
      {problem !== undefined && <p className="problem">{toVisible(problem)}</p>}
    </div>
  );
}

/** Returns why this page is no longer in the room. */
function useLeft(): string | undefined {
  const { liveKit } = useJoinedTalk();
  const [left, setLeft] = useState<string>();
  useEffect(() => {
    setLeft(undefined);
    const onLeft = (reason?: DisconnectReason) => setLeft(toSentence(reason));
    liveKit.on(RoomEvent.Disconnected, onLeft);
    return () => void liveKit.off(RoomEvent.Disconnected, onLeft);
  }, [liveKit]);
  return left;
}

function toSentence(reason: DisconnectReason | undefined): string {
  if (reason === DisconnectReason.DUPLICATE_IDENTITY)
    return "Somebody has joined under the same name, perhaps you in another tab. Continue there, or here:";
  if (reason === DisconnectReason.ROOM_DELETED || reason === DisconnectReason.PARTICIPANT_REMOVED)
    return "You were removed from the room.";
  return "The connection has ended.";
}

/** Returns whether a condition has ever been true. */
function useHasBeen(holds: boolean): boolean {
  const [has, setHas] = useState(holds);
  useEffect(() => {
    if (holds) setHas(true);
  }, [holds]);
  return has;
}
