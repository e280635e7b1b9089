import { createContext, useContext } from "react";
import type { JoinedTalk } from "./join-talk.ts";

export const JoinedTalkContext = createContext<JoinedTalk | undefined>(undefined);

/** The talk that the page is in. */
export function useJoinedTalk(): JoinedTalk {
  const talk = useContext(JoinedTalkContext);
  if (!talk) throw new Error("There is no talk here");
  return talk;
}
