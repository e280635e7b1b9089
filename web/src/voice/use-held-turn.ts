import { usePushToTalk, useVoice } from "@parley/react";
import { useCallback, useEffect, useRef, useState } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { useMicrophone } from "./microphone-state.ts";

type Ending = "sent" | "dropped";

interface HeldTurn {
  /** Whether the person speaks now. */
  readonly isHeld: boolean;
  /** How the last turn ended. `undefined` before the first one, and while the person speaks. */
  readonly ended: Ending | undefined;
  /** Why the agent could not hear the last turn, for people. */
  readonly problem: string | undefined;
  readonly begin: () => void;
  readonly end: (how: Ending) => void;
}

const NOTHING = { isHeld: false, ended: undefined, problem: undefined };

/**
 * A turn that lasts as long as the person holds something. Opens the microphone for that time, and announces the turn to
 * an agent that cannot tell by itself when turns begin and end.
 */
export function useHeldTurn(): HeldTurn {
  const { liveKit } = useJoinedTalk();
  const { open } = useMicrophone(liveKit);
  const { hasManualTurns } = useVoice();
  const { start, end: endTurn, cancel } = usePushToTalk();
  const [state, setState] = useState<Pick<HeldTurn, "isHeld" | "ended" | "problem">>(NOTHING);
  const isHeld = useRef(false);

  const end = useCallback(
    (how: Ending) => {
      if (!isHeld.current) return;
      isHeld.current = false;
      open(false);
      // What was said to an agent that listens all the time cannot be taken back.
      setState({ isHeld: false, ended: hasManualTurns ? how : "sent", problem: undefined });
      if (hasManualTurns) (how === "sent" ? endTurn() : cancel()).catch(() => {});
    },
    [open, hasManualTurns, endTurn, cancel],
  );
  const begin = useCallback(() => {
    if (isHeld.current) return;
    isHeld.current = true;
    open(true);
    setState({ isHeld: true, ended: undefined, problem: undefined });
    if (!hasManualTurns) return;
    const refuse = (error: unknown) => {
      isHeld.current = false;
      open(false);
      setState({ ...NOTHING, problem: error instanceof Error ? error.message : String(error) });
    };
    start().catch(refuse);
  }, [open, hasManualTurns, start]);
  // `usePushToTalk` cancels the turn.
  useEffect(
    () => () => {
      if (isHeld.current) open(false);
    },
    [open],
  );
  return { ...state, begin, end };
}
