import type { ReactNode } from "react";

interface WordOrIconProps {
  readonly word: string;
  /** An SVG path in a 24 by 24 box, drawn as a line. */
  readonly path: string;
}

/** A button's label: a word. On a narrow page, it is an icon instead, with the word as its accessible name. */
export function ButtonLabel({ word, path }: WordOrIconProps): ReactNode {
  return (
    <>
      <span className="word">{word}</span>
      <svg className="narrow-icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
        <path fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round" d={path} />
      </svg>
    </>
  );
}
