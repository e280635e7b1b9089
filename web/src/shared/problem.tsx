import type { ReactNode } from "react";
import { toVisible } from "./exact-json.ts";

interface ProblemProps {
  /** What went wrong and what to do, for people. It may quote untrusted text. `undefined` if nothing went wrong. */
  readonly text: string | undefined;
}

/** Why something that the person has just done did not work. Screen readers announce it at once. */
export function Problem({ text }: ProblemProps): ReactNode {
  if (text === undefined) return null;
  return (
    <p className="problem" role="alert">
      {toVisible(text)}
    </p>
  );
}
