import { useVoice } from "@parley/react";
import { type LocalAudioTrack, Track } from "livekit-client";
import { type ReactNode, useEffect } from "react";
import { wantsMicrophone } from "../join/browser-storage.ts";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { IconButton } from "../shared/icon-button.tsx";
import { HoldToTalk } from "./hold-to-talk.tsx";
import { LevelMeter } from "../shared/level-meter.tsx";
import { useIsMicrophoneOpen, useMicrophone } from "./microphone-state.ts";
import { useIsPushToTalk } from "./push-to-talk-choice.tsx";
import { useWords } from "../shared/words/words.ts";

const MICROPHONE = "M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3Zm-7 8a7 7 0 0 0 14 0m-7 7v3";

/** Turns the microphone on and off, and shows its level. Only shown if the worker understands speech. */
export function Microphone(): ReactNode {
  const words = useWords();
  const { liveKit } = useJoinedTalk();
  const { isOn, isStarting, turn, open } = useMicrophone(liveKit);
  const isOpen = useIsMicrophoneOpen();
  const track = liveKit.localParticipant.getTrackPublication(Track.Source.Microphone)?.track;
  const isPushToTalk = useIsPushToTalk();
  const { listens } = useVoice();
  useEffect(() => open(!isPushToTalk), [open, isPushToTalk]);
  useEffect(() => {
    // Whoever has joined to talk does not press another button.
    if (listens === true && wantsMicrophone()) turn(true);
  }, [listens, turn]);
  if (listens !== true) return null;
  return (
    <>
      <div className="microphone">
        <IconButton
          label={words.settings.microphone}
          path={MICROPHONE}
          isPressed={isOn}
          isDisabled={isStarting}
          onClick={() => turn(!isOn)}
        />
        {isOpen && track && <LevelMeter track={track as LocalAudioTrack} />}
      </div>
      {isOn && isPushToTalk && <HoldToTalk />}
    </>
  );
}
