import type { ReactNode } from "react";
import { IconButton } from "../../shared/icon-button.tsx";
import { useCopy } from "../../shared/use-copy.ts";
import { useWords } from "../../shared/words/words.ts";

const ICONS = {
  edit: "M4 20h4L19 9l-4-4L4 16ZM13 7l4 4",
  copy: "M9 9h11v11H9ZM15 9V4H4v11h5",
  copied: "M5 12.5 10 17.5 19 7",
  again: "M19.5 12a7.5 7.5 0 1 1-2.2-5.3M19.5 3v4.5H15",
};

interface MessageActionsProps {
  /** The text to copy. Empty if there is none, or not all of it yet. */
  readonly text: string;
  readonly onEdit?: (() => void) | undefined;
  /** Answers the question again. */
  readonly onRegenerate?: (() => void) | undefined;
}

/** The actions for a message, shown next to its author. */
export function MessageActions({ text, onEdit, onRegenerate }: MessageActionsProps): ReactNode {
  const { message: words } = useWords();
  const [label, copy, isCopied] = useCopy(text);
  if (text === "" && !onEdit && !onRegenerate) return null;
  return (
    <p className="actions">
      {onEdit && <IconButton label={words.edit} path={ICONS.edit} isQuiet onClick={onEdit} />}
      {text !== "" && <IconButton label={label} path={isCopied ? ICONS.copied : ICONS.copy} isQuiet onClick={copy} />}
      {onRegenerate && <IconButton label={words.tryAgain} path={ICONS.again} isQuiet onClick={onRegenerate} />}
    </p>
  );
}
