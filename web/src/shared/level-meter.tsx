import { createAudioAnalyser, type LocalAudioTrack } from "livekit-client";
import { type ReactNode, useEffect, useRef } from "react";
import { useWords } from "./words/words.ts";

const EVERY_MS = 80;
/** The level of quiet speech. Noise of a microphone in a silent room stays below. */
const AUDIBLE = 0.05;

interface LevelMeterProps {
  readonly track: LocalAudioTrack;
  /** Called when the level is that of speech, possibly often. */
  readonly onSound?: () => void;
}

/** A microphone's level. Updated without React, because it changes twelve times a second. */
export function LevelMeter({ track, onSound }: LevelMeterProps): ReactNode {
  const words = useWords();
  const meter = useRef<HTMLMeterElement>(null);
  useEffect(() => {
    const { calculateVolume, cleanup } = createAudioAnalyser(track, { cloneTrack: true });
    const timer = setInterval(() => {
      const level = calculateVolume();
      if (meter.current) meter.current.value = level;
      if (level > AUDIBLE) onSound?.();
    }, EVERY_MS);
    return () => {
      clearInterval(timer);
      void cleanup();
    };
  }, [track, onSound]);
  return <meter className="level" ref={meter} min={0} max={1} value={0} aria-label={words.voice.level} />;
}
