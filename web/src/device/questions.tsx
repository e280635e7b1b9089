import { useParley } from "@parley/react";
import { type ReactNode, useEffect } from "react";
import { toVisible } from "../shared/exact-json.ts";
import { Forms } from "./forms.tsx";
import { ageNotices, closeNotice, closeNotices, useNotices } from "./notices.ts";
import { useSwitches } from "./switches.ts";
import { useWords } from "../shared/words/words.ts";

/** The notices and forms that tools show. */
export function Questions(): ReactNode {
  const words = useWords();
  const notices = useNotices();
  const { ask_user: mayAsk } = useSwitches();
  const parley = useParley();
  useEffect(() => parley?.on("answer_start", ageNotices), [parley]);
  // Notices in one conversation are not shown in the next.
  useEffect(() => closeNotices, []);
  return (
    <div className="shown">
      <div role="status">
        {notices.map(({ id, message }) => (
          <p key={id} className="notice">
            <span dir="auto">{toVisible(message)}</span>
            <button
              type="button"
              onClick={() => closeNotice(id)}
              aria-label={words.form.closeNotice(toVisible(message))}
            >
              {words.close}
            </button>
          </p>
        ))}
      </div>
      {mayAsk && <Forms />}
    </div>
  );
}
