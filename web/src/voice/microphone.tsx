import type { ReactNode } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { LevelMeter } from "./level-meter.tsx";
import { useMicrophone } from "./microphone-state.ts";

/** Turns the microphone on and off, and shows how loud it is. */
export function Microphone(): ReactNode {
  const { liveKit } = useJoinedTalk();
  const { isOn, isStarting, turn } = useMicrophone(liveKit);
  return (
    <div className="microphone">
      <button type="button" aria-pressed={isOn} disabled={isStarting} onClick={() => turn(!isOn)}>
        <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
          <path
            fill="none"
            stroke="currentColor"
            strokeWidth="2"
            strokeLinecap="round"
            d="M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3Zm-7 8a7 7 0 0 0 14 0m-7 7v3"
          />
        </svg>
        <span className="visually-hidden">Microphone</span>
      </button>
      {isOn && <LevelMeter room={liveKit} />}
    </div>
  );
}
