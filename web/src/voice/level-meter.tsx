import { createAudioAnalyser, type LocalAudioTrack, type Room, Track } from "livekit-client";
import { type ReactNode, useEffect, useRef } from "react";

const EVERY_MS = 80;

/** The microphone's level. Updated without React, because it changes twelve times a second. */
export function LevelMeter({ room }: { readonly room: Room }): ReactNode {
  const meter = useRef<HTMLMeterElement>(null);
  useEffect(() => {
    const track = room.localParticipant.getTrackPublication(Track.Source.Microphone)?.track;
    if (!track) return undefined;
    const { calculateVolume, cleanup } = createAudioAnalyser(track as LocalAudioTrack, { cloneTrack: true });
    const timer = setInterval(() => {
      if (meter.current) meter.current.value = calculateVolume();
    }, EVERY_MS);
    return () => {
      clearInterval(timer);
      void cleanup();
    };
  }, [room]);
  return <meter className="level" ref={meter} min={0} max={1} value={0} aria-label="Microphone level" />;
}
