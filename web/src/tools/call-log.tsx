import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { toVisible } from "../shared/exact-json.ts";
import { useWords } from "../shared/words/words.ts";

/** How far up a person must scroll, in pixels, to count as reading. New lines then no longer move the log. */
const NEAR_PX = 20;

interface CallLogProps {
  readonly title: string;
  readonly lines: readonly string[];
  /** Whether the call is still open. */
  readonly isRunning: boolean;
}

/** A call's log, scrolled to its newest lines. Closes when the call ends, unless somebody has opened or focused it. */
export function CallLog({ title, lines, isRunning }: CallLogProps): ReactNode {
  const { calls: words } = useWords();
  const box = useRef<HTMLPreElement>(null);
  /** The last automatic scroll position, at the end of the log. */
  const top = useRef(0);
  const [chosen, setChosen] = useState<boolean>();
  const isShown = chosen ?? isRunning;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    if (!isShown) top.current = 0;
    if (element.scrollTop < top.current - NEAR_PX) return;
    element.scrollTop = element.scrollHeight;
    top.current = element.scrollTop;
  }, [lines, isShown]);
  return (
    <details className="log" open={isShown}>
      <summary
        onClick={(event) => {
          event.preventDefault();
          setChosen(!isShown);
        }}
      >
        {words.log(lines.length)}
      </summary>
      <pre ref={box} className="logs" tabIndex={0} aria-label={title} onFocus={() => setChosen(true)}>
        {toVisible(lines.join("\n"))}
      </pre>
    </details>
  );
}
