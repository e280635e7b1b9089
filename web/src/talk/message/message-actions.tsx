import type { ReactNode } from "react";

interface MessageActionsProps {
  readonly onEdit?: (() => void) | undefined;
  /** Answers the question again. */
  readonly onRegenerate?: (() => void) | undefined;
}

/** The actions for a message, shown next to its author. */
export function MessageActions({ onEdit, onRegenerate }: MessageActionsProps): ReactNode {
  if (!onEdit && !onRegenerate) return null;
  return (
    <p className="actions">
      {onEdit && (
        <button type="button" className="quiet" onClick={onEdit}>
          Edit
        </button>
      )}
      {onRegenerate && (
        <button type="button" className="quiet" onClick={onRegenerate}>
          Answer again
        </button>
      )}
    </p>
  );
}
