import { type ReactNode, useEffect, useState } from "react";
import { TimeLeft } from "../tools/time-left.tsx";
import { useWords } from "../shared/words/words.ts";

/**
 * How long before a request expires the person is warned. WCAG 2.2.1 requires at least 20 seconds in which to ask for
 * more time. The other 10 are for reading the rest of the request.
 */
const WARN_MS = 30_000;

interface AnswerTimeProps {
  /** Unix ms. */
  readonly until: number;
  readonly onMoreTime: () => void;
}

/**
 * Shows how long a request stays open, with a button for more time. Warns screen readers once before the time runs out.
 */
export function AnswerTime({ until, onMoreTime }: AnswerTimeProps): ReactNode {
  const { permission: words } = useWords();
  const isSoon = useIsPast(until - WARN_MS);
  return (
    <div className="answer-time" data-soon={isSoon}>
      <TimeLeft until={until} />
      <button type="button" className="quiet" onClick={onMoreTime} aria-keyshortcuts="m">
        {words.moreTime} <kbd aria-hidden="true">m</kbd>
      </button>
      <span className="visually-hidden" role="status">
        {isSoon && words.isSoonDenied}
      </span>
    </div>
  );
}

function useIsPast(moment: number): boolean {
  const [isPast, setPast] = useState(false);
  useEffect(() => {
    setPast(Date.now() >= moment);
    const timer = setTimeout(() => setPast(true), Math.max(0, moment - Date.now()));
    return () => clearTimeout(timer);
  }, [moment]);
  return isPast;
}
