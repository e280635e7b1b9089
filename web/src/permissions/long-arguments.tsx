import { useToolCalls } from "@parley/react";
import type { ReactNode } from "react";
import { toPretty } from "../tools/describe-call.ts";

interface LongArgumentsProps {
  readonly callId: string | undefined;
}

/** The call's arguments, as far as known, for a request that does not include them because they are too long. */
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
