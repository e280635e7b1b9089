import { type ReactNode, useEffect, useState } from "react";
import { useWords } from "../shared/words/words.ts";

/** The time left until a moment, in whole seconds. Empty once it has passed. */
export function TimeLeft({ until }: { readonly until: number }): ReactNode {
  const words = useWords();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.ceil((until - now) / 1_000);
  if (seconds <= 0) return null;
  return (
    <p className="time-left" role="timer" aria-live="off">
      {words.timeLeft(Math.floor(seconds / 60), seconds % 60)}
    </p>
  );
}
