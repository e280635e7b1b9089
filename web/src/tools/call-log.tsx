import { type ReactNode, useLayoutEffect, useRef } from "react";
import { toVisible } from "../shared/exact-json.ts";

interface CallLogProps {
  readonly title: string;
  readonly lines: readonly string[];
}

/** The log of a call. Shows its newest lines; the others are reached by scrolling up. */
export function CallLog({ title, lines }: CallLogProps): ReactNode {
  const box = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  return (
    <pre ref={box} className="logs" tabIndex={0} aria-label={title}>
      {toVisible(lines.join("\n"))}
    </pre>
  );
}
