import { useParley } from "@parley/react";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import type { TurnTimings } from "@parley/react";

type TurnLogValue = ReadonlyMap<string, TurnTimings>;

const TurnLogContext = createContext<TurnLogValue>(new Map());

/**
 * Stores the timings of turns that have ended since the page was opened, by answer id, even while the panel is hidden.
 */
export function TurnLog({ children }: { readonly children: ReactNode }): ReactNode {
  const parley = useParley();
  const [ended, setEnded] = useState<TurnLogValue>(new Map());
  useEffect(
    () =>
      parley?.on("message", ({ type, body }) => {
        // The timings of `turn_spoken` replace those of `turn_complete`.
        if (type !== "block_event") return;
        const { turnId, timings } = body;
        if (timings) setEnded((known) => new Map(known).set(turnId, timings as unknown as TurnTimings));
      }),
    [parley],
  );
  return <TurnLogContext value={ended}>{children}</TurnLogContext>;
}

export function useTurnLog(): TurnLogValue {
  return useContext(TurnLogContext);
}
