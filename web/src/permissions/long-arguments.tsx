import { useToolCalls } from "@parley/react";
import type { ReactNode } from "react";
import { toPretty } from "../tools/describe-call.ts";

interface LongArgumentsProps {
  readonly callId: string | undefined;
}

/** Shows the known part of a call's arguments, for a request that omits them because they are too long. */
export function LongArguments({ callId }: LongArgumentsProps): ReactNode {
  const call = useToolCalls().find(({ id }) => id === callId);
  if (!call || call.inputJson === "")
    return <p className="problem">The arguments are too long to show. If you are not sure, deny the request.</p>;
  return (
    <pre tabIndex={0} aria-label="Arguments received so far">
      {toPretty(call.inputJson)}
    </pre>
  );
}
