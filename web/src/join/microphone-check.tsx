import { createLocalAudioTrack, type LocalAudioTrack } from "livekit-client";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { type MicrophoneProblem, problemOf } from "../shared/microphone-problem.ts";
import { Problem } from "../shared/problem.tsx";
import { LevelMeter } from "../shared/level-meter.tsx";
import { useWords } from "../shared/words/words.ts";

/**
 * Shows before joining whether the microphone hears the person. Opens the microphone only when asked to, because the
 * agent may be one that cannot hear. Nothing is sent.
 */
export function MicrophoneCheck(): ReactNode {
  const words = useWords();
  const [isChecking, setChecking] = useState(false);
  const [track, setTrack] = useState<LocalAudioTrack>();
  const [isHeard, setHeard] = useState(false);
  const [problem, setProblem] = useState<MicrophoneProblem>();
  const onSound = useCallback(() => setHeard(true), []);
  useEffect(() => {
    if (!isChecking) return undefined;
    let opened: LocalAudioTrack | undefined;
    let isOver = false;
    createLocalAudioTrack().then(
      (microphone) => {
        opened = microphone;
        if (isOver) microphone.stop();
        else setTrack(microphone);
      },
      (error: unknown) => {
        setProblem(problemOf(error));
        setChecking(false);
      },
    );
    return () => {
      isOver = true;
      opened?.stop();
      setTrack(undefined);
      setHeard(false);
    };
  }, [isChecking]);
  return (
    <div className="microphone-check">
      <button
        type="button"
        className="quiet"
        onClick={() => {
          setProblem(undefined);
          setChecking(!isChecking);
        }}
      >
        {isChecking ? words.join.endCheck : words.join.checkMicrophone}
      </button>
      {track && <LevelMeter track={track} onSound={onSound} />}
      <p className="hint" role="status">
        {track && (isHeard ? words.join.isHeard : words.join.saySomething)}
      </p>
      <Problem text={problem && words.voice.problems[problem]} />
    </div>
  );
}
