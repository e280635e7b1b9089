import { useTalk } from "@parley/react";
import { type ReactNode, useState } from "react";
import { useWords } from "../shared/words/words.ts";

interface CancelCallProps {
  readonly callId: string;
  /** The tool's display name. */
  readonly title: string;
}

/** Cancels one running call. The answer continues without the call. */
export function CancelCall({ callId, title }: CancelCallProps): ReactNode {
  const words = useWords();
  const { cancelCall } = useTalk();
  const [isSent, setSent] = useState(false);
  const cancel = () => {
    setSent(true);
    // The connection's state already shows that the worker is unreachable. The button can be pressed again.
    cancelCall(callId).catch(() => setSent(false));
  };
  return (
    <button
      type="button"
      className="quiet cancel-call"
      disabled={isSent}
      aria-label={words.calls.cancel(title)}
      onClick={cancel}
    >
      {words.cancel}
    </button>
  );
}
