import { useAgent, useTalk, useVoice } from "@parley/react";
import type { ReactNode } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { toVisible } from "../shared/exact-json.ts";
import { useMicrophone } from "../voice/microphone-state.ts";
import { AgentTools } from "./agent-tools.tsx";
import { useWords } from "../shared/words/words.ts";

/** What the agent is for, and what a person can do before anything has been said. */
export function Welcome(): ReactNode {
  const { stage: words } = useWords();
  const { liveKit } = useJoinedTalk();
  const { isConnected, send } = useTalk();
  const { listens } = useVoice();
  const { name, description, suggestions } = useAgent();
  const { isOn, isStarting, turn } = useMicrophone(liveKit);
  if (!isConnected || name === undefined) return <p className="hint">{words.connecting}</p>;
  return (
    <div className="welcome">
      <h2 dir="auto">{toVisible(name)}</h2>
      {description !== undefined && <p dir="auto">{toVisible(description)}</p>}
      {listens === true && !isOn && (
        <button type="button" className="primary talk-button" disabled={isStarting} onClick={() => turn(true)}>
          {words.talk}
        </button>
      )}
      {suggestions.length > 0 && (
        <ul className="suggestions" aria-label={isOn ? words.youCanSay : words.youCanAsk}>
          {suggestions.map((suggestion) => (
            <li key={suggestion}>
              <button type="button" dir="auto" onClick={() => send(suggestion)}>
                {toVisible(suggestion)}
              </button>
            </li>
          ))}
        </ul>
      )}
      <AgentTools />
    </div>
  );
}
