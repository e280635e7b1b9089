import { useAgentState, useTalk } from "@parley/react";
import { ConnectionState, DisconnectReason, RoomEvent } from "livekit-client";
import { type ReactNode, useEffect, useState } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { toVisible } from "../shared/exact-json.ts";
import { useRoomValue } from "../shared/use-room-value.ts";
import { BudgetProblem } from "./budget-problem.tsx";
import { ModelProblem } from "./model-problem.tsx";
import { useIsUnreachable } from "./reachability.tsx";
import { useMicrophone } from "../voice/microphone-state.ts";
import { useWords } from "../shared/words/words.ts";

const STATE_EVENTS = [RoomEvent.ConnectionStateChanged];
const SOUND_EVENTS = [RoomEvent.AudioPlaybackStatusChanged];

/** Shows each problem in one sentence that says what to do about it. */
export function Problems({ onRejoin }: { readonly onRejoin: () => void }): ReactNode {
  const { problems: words, voice } = useWords();
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
          {words[left]}{" "}
          <button type="button" onClick={onRejoin}>
            {words.joinAgain}
          </button>
        </p>
      )}
      {(isTrying || (connection === ConnectionState.Connected && isUnreachable)) && (
        <p className="problem">{words.connectionLost}</p>
      )}
      {isOnline && reason === "workers_full" && <p className="problem">{words.workersFull}</p>}
      {isOnline && reason === "no_agent" && <p className="problem">{words.noAgent}</p>}
      {isOnline && hadAgent && !isConnected && reason === undefined && <p className="problem">{words.agentLeft}</p>}
      {microphone !== undefined && <p className="problem">{voice.problems[microphone]}</p>}
      {isOnline && !hasSound && (
        <p className="problem">
          {words.noSound}{" "}
          <button type="button" onClick={() => void liveKit.startAudio()}>
            {words.playSound}
          </button>
        </p>
      )}
      <BudgetProblem />
      <ModelProblem />
      {problem !== undefined && <p className="problem">{toVisible(problem)}</p>}
    </div>
  );
}

type Left = "duplicateName" | "removed" | "ended";

/** Returns why this page is no longer in the room. */
function useLeft(): Left | undefined {
  const { liveKit } = useJoinedTalk();
  const [left, setLeft] = useState<Left>();
  useEffect(() => {
    setLeft(undefined);
    const onLeft = (reason?: DisconnectReason) => setLeft(toLeft(reason));
    liveKit.on(RoomEvent.Disconnected, onLeft);
    return () => void liveKit.off(RoomEvent.Disconnected, onLeft);
  }, [liveKit]);
  return left;
}

function toLeft(reason: DisconnectReason | undefined): Left {
  if (reason === DisconnectReason.DUPLICATE_IDENTITY) return "duplicateName";
  return reason === DisconnectReason.ROOM_DELETED || reason === DisconnectReason.PARTICIPANT_REMOVED
    ? "removed"
    : "ended";
}

/** Returns whether a condition has ever been true. */
function useHasBeen(holds: boolean): boolean {
  const [has, setHas] = useState(holds);
  useEffect(() => {
    if (holds) setHas(true);
  }, [holds]);
  return has;
}
