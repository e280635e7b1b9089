import { type SpokenTurn, type TalkEntry, useParley } from "@parley/react";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { loadTurns } from "../shared/worker-api.ts";
import { useRecord } from "../shared/use-record.tsx";

const NONE: readonly SpokenTurn[] = [];

interface EarlierTurns {
  readonly turns: readonly SpokenTurn[];
  /** Whether `turns` is complete. */
  readonly isLoaded: boolean;
  /** Ids of turns whose question and answer are among the page's own messages. */
  readonly askedHere: ReadonlySet<string>;
  /** Ids of turns for which the page shows a newer answer. */
  readonly answeredAgain: ReadonlySet<string>;
  /** Why the turns could not be loaded, for people. */
  readonly problem: ReactNode;
}

/**
 * Returns the room's conversation from before the page was opened, from the worker's record.
 *
 * @param shown the messages that this page has received itself
 */
export function useEarlierTurns(shown: readonly TalkEntry[]): EarlierTurns {
  const { token } = useJoinedTalk();
  const { value, problem } = useRecord(token, loadTurns);
  const stored = value ?? NONE;
  const isLoaded = value !== undefined;
  const [replaced, setReplaced] = useState<readonly string[]>([]);
  const parley = useParley();
  useEffect(
    () =>
      parley?.on("answer_start", ({ replacesId }) => {
        if (replacesId !== undefined) setReplaced((known) => [...known, replacesId]);
      }),
    [parley],
  );
  return useMemo(() => {
    const loaded = stored.filter(({ isReplaced }) => isReplaced !== true);
    // The turns after a regenerated answer are replaced, too. The new answer belongs to the question of the regenerated
    // turn.
    const place = loaded.findIndex(({ turnId }) => replaced.includes(turnId));
    return {
      isLoaded,
      turns: place < 0 ? loaded : loaded.slice(0, place + 1),
      askedHere: new Set(shown.filter((_, index) => shown[index - 1]?.role === "user").map(({ id }) => id)),
      answeredAgain: new Set(replaced),
      problem,
    };
  }, [stored, isLoaded, replaced, shown, problem]);
}
