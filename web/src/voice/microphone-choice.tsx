import { useVoice } from "@parley/react";
import type { ReactNode } from "react";
import { DeviceChoice } from "./device-choice.tsx";
import { useWords } from "../shared/words/words.ts";

/** Selects the microphone, or explains why no microphone is available. */
export function MicrophoneChoice(): ReactNode {
  const { settings: words } = useWords();
  const { listens } = useVoice();
  if (listens !== false) return <DeviceChoice kind="audioinput" label={words.microphone} />;
  return <p className="hint">{words.cannotHear}</p>;
}
