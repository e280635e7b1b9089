import type { ReactNode } from "react";

interface MessageActionsProps {
  readonly onEdit?: (() => void) | undefined;
  /** Has the question answered anew. */
  readonly onAgain?: (() => void) | undefined;
}

/** What may be done with a message, beside its name. */
export function MessageActions({ onEdit, onAgain }: MessageActionsProps): ReactNode {
  if (!onEdit && !onAgain) return null;
  return (
    <p className="actions">
      {onEdit && (
        <button type="button" className="quiet" onClick={onEdit}>
          Edit
        </button>
      )}
      {onAgain && (
        <button type="button" className="quiet" onClick={onAgain}>
          Answer again
        </button>
      )}
    </p>
  );
}
