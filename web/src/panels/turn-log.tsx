import { useParley } from "@parley/react";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import type { TurnTimings } from "@parley/react";

type TurnLogValue = ReadonlyMap<string, TurnTimings>;

const TurnLogContext = createContext<TurnLogValue>(new Map());

/** Keeps the times of the turns that have ended since this page came, by their answers' ids, whether or not they are looked at. */
export function TurnLog({ children }: { readonly children: ReactNode }): ReactNode {
  const parley = useParley();
  const [ended, setEnded] = useState<TurnLogValue>(new Map());
  useEffect(
    () =>
      parley?.on("message", ({ type, body }) => {
        // Those of `turn_spoken` take the place of those of `turn_complete`.
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
