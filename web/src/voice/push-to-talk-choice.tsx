import { useVoice } from "@parley/react";
import type { ReactNode } from "react";
import { Switch } from "../shared/switch.tsx";
import { watchedValue } from "../shared/watched-value.ts";
import { useWords } from "../shared/words/words.ts";

const KEY = "parley.push-to-talk";

const isChosen = watchedValue(localStorage.getItem(KEY) === "on");

function choose(isOn: boolean): void {
  isChosen.set(isOn);
  localStorage.setItem(KEY, isOn ? "on" : "off");
}

/** Whether the microphone lets sound through only while the person holds a key or a button. */
export function useIsPushToTalk(): boolean {
  const { hasManualTurns } = useVoice();
  const isOn = isChosen.use();
  return hasManualTurns || isOn;
}

/** Turns push-to-talk on and off, or says that the agent requires it. Only shown if the worker understands speech. */
export function PushToTalkChoice(): ReactNode {
  const { settings: words } = useWords();
  const { listens, hasManualTurns } = useVoice();
  const isOn = isChosen.use();
  if (listens !== true) return null;
  if (hasManualTurns) return <p className="hint">{words.pushToTalkRequired}</p>;
  return <Switch isOn={isOn} title={words.pushToTalk} hint={words.pushToTalkHint} onChange={choose} />;
}
