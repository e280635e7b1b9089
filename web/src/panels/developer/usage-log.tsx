import { type Usage, useParley, useUsage } from "@parley/react";
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from "react";

interface UsageLogValue {
  readonly usage: Usage | undefined;
  /** How many tokens each turn since the page was opened has used. Turns without a pause between them count as one. */
  readonly tokensOfTurns: readonly number[];
}

const UsageLogContext = createContext<UsageLogValue>({ usage: undefined, tokensOfTurns: [] });

/** Loads the conversation's usage after each turn, even while the usage is not shown. */
export function UsageLog({ children }: { readonly children: ReactNode }): ReactNode {
  const parley = useParley();
  const { usage, refresh } = useUsage();
  const [tokensOfTurns, setTokens] = useState<readonly number[]>([]);
  const isTurnOver = useRef(false);
  const before = useRef(0);

  useEffect(() => {
    refresh().catch(() => {});
  }, [refresh]);
  useEffect(
    () =>
      parley?.on("message", ({ type, body }) => {
        if (type === "block_event" && body.event === "turn_complete") isTurnOver.current = true;
      }),
    [parley],
  );
  useEffect(() => {
    if (!usage) return;
    const total = totalOf(usage);
    // The usage from before the page was opened belongs to no turn that is counted here.
    const spent = isTurnOver.current ? total - before.current : 0;
    before.current = total;
    if (spent > 0) setTokens((known) => [...known, spent]);
  }, [usage]);

  return <UsageLogContext value={{ usage, tokensOfTurns }}>{children}</UsageLogContext>;
}

export function useUsageLog(): UsageLogValue {
  return useContext(UsageLogContext);
}

function totalOf({ models }: Usage): number {
  return models
    .map(({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }) => {
      return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
    })
    .reduce((sum, each) => sum + each, 0);
}
