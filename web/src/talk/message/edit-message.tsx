import { type ReactNode, useState } from "react";
import { useWords } from "../../shared/words/words.ts";

interface EditMessageProps {
  readonly text: string;
  /** Called with the new text, or without a text if nothing was changed. */
  readonly onDone: (text?: string) => void;
}

export function EditMessage({ text, onDone }: EditMessageProps): ReactNode {
  const words = useWords();
  const [draft, setDraft] = useState(text);
  return (
    <form
      className="edit"
      onSubmit={(event) => {
        event.preventDefault();
        onDone(draft.trim() === "" ? undefined : draft);
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onDone();
      }}
    >
      <label className="field">
        {words.message.editYours}
        <textarea rows={2} dir="auto" value={draft} onChange={(event) => setDraft(event.target.value)} autoFocus />
      </label>
      <p className="row">
        <button className="primary">{words.message.sendAgain}</button>
        <button type="button" onClick={() => onDone()}>
          {words.cancel}
        </button>
      </p>
    </form>
  );
}
