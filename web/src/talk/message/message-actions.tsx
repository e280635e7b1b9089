import type { ReactNode } from "react";

interface MessageActionsProps {
  readonly onEdit?: (() => void) | undefined;
  /** Answers the question again. */
  readonly onAgain?: (() => void) | undefined;
}

/** The actions for a message, shown next to its author. */
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
