import { usePermissions } from "@parley/react";
import type { ReactNode } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { toVisible } from "../shared/exact-json.ts";
import { ExactText } from "../shared/exact-text.tsx";
import { readJson, request } from "../shared/worker-api.ts";
import { useRecord } from "../shared/use-record.tsx";
import { useWords } from "../shared/words/words.ts";

interface Grant {
  readonly id: string;
  readonly toolName: string;
  readonly type: string;
  readonly pattern: string;
}

const loadGrants = (token: string) => readJson<readonly Grant[]>(token, "/permissions/grants");

/** This participant's permanent permissions, in all rooms. Each can be revoked. */
export function Grants(): ReactNode {
  const { settings: words } = useWords();
  const { token } = useJoinedTalk();
  const { open } = usePermissions();
  // Reloaded when the open requests change, because an answer may have created a grant.
  const { value: grants = [], problem, reload } = useRecord(token, loadGrants, open);
  const takeBack = (id: string) =>
    reload(request(token, `/permissions/grants/${encodeURIComponent(id)}`, { method: "DELETE" }));
  return (
    <section>
      <h3>{words.alwaysAllowed}</h3>
      {problem || (grants.length === 0 && <p className="hint">{words.noGrants}</p>)}
      <ul className="rows">
        {grants.map(({ id, toolName, pattern }) => (
          <li key={id}>
            <span>
              <ExactText>{toolName}</ExactText> <code>{toVisible(pattern)}</code>
            </span>
            <button
              type="button"
              onClick={() => void takeBack(id)}
              aria-label={words.revokeOne(toVisible(`${toolName} ${pattern}`))}
            >
              {words.revoke}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
