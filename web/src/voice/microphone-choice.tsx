import { useVoice } from "@parley/react";
import type { ReactNode } from "react";
import { DeviceChoice } from "./device-choice.tsx";

/** Selects the microphone, or explains why no microphone is available. */
export function MicrophoneChoice(): ReactNode {
  const { listens } = useVoice();
  if (listens !== false) return <DeviceChoice kind="audioinput" label="Microphone" />;
  return (
    <p className="hint">
      This agent cannot hear, so the microphone is not available. To change that, set STT on its worker.
    </p>
  );
}
