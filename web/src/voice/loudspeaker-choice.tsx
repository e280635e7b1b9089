import { useVoice } from "@parley/react";
import { supportsAudioOutputSelection } from "livekit-client";
import type { ReactNode } from "react";
import { DeviceChoice } from "./device-choice.tsx";
import { setVolume, useVolume } from "./sound-switch.ts";
import { useWords } from "../shared/words/words.ts";

/** The page's volume and output device. Only shown if the worker speaks. */
export function LoudspeakerChoice(): ReactNode {
  const { settings: words } = useWords();
  const { speaks } = useVoice();
  const volume = useVolume();
  if (speaks !== true) return null;
  return (
    <>
      <label className="field">
        {words.volume}
        <input
          type="range"
          min={0}
          max={1}
          step={0.05}
          value={volume}
          onChange={({ target: { value } }) => setVolume(Number(value))}
        />
      </label>
      {supportsAudioOutputSelection() && <DeviceChoice kind="audiooutput" label={words.loudspeaker} />}
    </>
  );
}
