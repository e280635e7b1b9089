import type { ReactNode } from "react";

interface WordOrIconProps {
  readonly word: string;
  /** An SVG path in a box of 24 by 24, drawn as a line. */
  readonly path: string;
}

/** What stands on a button: a word, or on a narrow page an icon whose name is the word. */
export function WordOrIcon({ word, path }: WordOrIconProps): ReactNode {
  return (
    <>
      <span className="word">{word}</span>
      <svg className="narrow-icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
        <path fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round" d={path} />
      </svg>
    </>
  );
}
