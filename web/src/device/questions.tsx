import type { ReactNode } from "react";
import { toVisible } from "../shared/exact-json.ts";
import { Forms } from "./forms.tsx";
import { closeNotice, useNotices } from "./notices.ts";
import { useSwitches } from "./switches.ts";

/** The notices and forms of tools. */
export function Questions(): ReactNode {
  const notices = useNotices();
  const { ask_user: mayAsk } = useSwitches();
  return (
    <div className="shown">
      <div role="status">
        {notices.map(({ id, message }) => (
          <p key={id} className="notice">
            <span dir="auto">{toVisible(message)}</span>
            <button type="button" onClick={() => closeNotice(id)} aria-label={`Close: ${toVisible(message)}`}>
              Close
            </button>
          </p>
        ))}
      </div>
      {mayAsk && <Forms />}
    </div>
  );
}
