import { useToolCalls } from "@parley/react";
import type { ReactNode } from "react";
import { toPretty } from "../tools/describe-call.ts";
import { useWords } from "../shared/words/words.ts";

interface LongArgumentsProps {
  readonly callId: string | undefined;
}

/** Shows the known part of a call's arguments, for a request that omits them because they are too long. */
export function LongArguments({ callId }: LongArgumentsProps): ReactNode {
  const { permission: words } = useWords();
  const call = useToolCalls().find(({ id }) => id === callId);
  if (!call || call.inputJson === "") return <p className="problem">{words.argumentsTooLong}</p>;
  return (
    <pre tabIndex={0} aria-label={words.argumentsSoFar}>
      {toPretty(call.inputJson)}
    </pre>
  );
}
