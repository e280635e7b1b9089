import { createContext, useContext } from "react";
import type { JoinedTalk } from "./join-talk.ts";

interface JoinedTalkValue {
  readonly talk: JoinedTalk;
  /** Leaves this conversation and opens the conversation in another room. */
  readonly open: (room: string) => void;
}

export const JoinedTalkContext = createContext<JoinedTalkValue | undefined>(undefined);

/** Returns the conversation that the page is in. */
export function useJoinedTalk(): JoinedTalk {
  return useValue().talk;
}

export function useOpenTalk(): (room: string) => void {
  return useValue().open;
}

function useValue(): JoinedTalkValue {
  const value = useContext(JoinedTalkContext);
  if (!value) throw new Error("useJoinedTalk must be used inside a JoinedTalkContext");
  return value;
}
