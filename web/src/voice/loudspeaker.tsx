import { useAgentState, useTalk, useVoice } from "@parley/react";
import { ParticipantKind } from "livekit-client";
import type { ReactNode } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { IconButton } from "../shared/icon-button.tsx";
import { setSound, useSound } from "./sound-switch.ts";
import { useWords } from "../shared/words/words.ts";

const SOUND = "M4 9.5v5h3.5L12 18.5v-13L7.5 9.5ZM15.5 9a4.2 4.2 0 0 1 0 6m2.5-8.5a8 8 0 0 1 0 11";
const NO_SOUND = "M4 9.5v5h3.5L12 18.5v-13L7.5 9.5Zm12 0 5 5m0-5-5 5";

/** Turns this page's sound on and off. Only shown if the worker speaks. */
export function Loudspeaker(): ReactNode {
  const words = useWords();
  const { liveKit } = useJoinedTalk();
  const { speaks } = useVoice();
  const { state } = useAgentState();
  const { stop } = useTalk();
  const isOn = useSound();
  if (speaks !== true) return null;
  const turn = () => {
    setSound(!isOn);
    const others = [...liveKit.remoteParticipants.values()].filter(({ kind }) => kind !== ParticipantKind.AGENT);
    // Ends the speech, so that the rest of the answer is shown at once. Does not do so if others may be listening.
    if (isOn && state === "speaking" && others.length === 0) stop("speech");
  };
  return <IconButton label={words.settings.sound} path={isOn ? SOUND : NO_SOUND} isPressed={isOn} onClick={turn} />;
}
