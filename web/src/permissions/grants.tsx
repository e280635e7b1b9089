import { usePermissions } from "@parley/react";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { useJoinedTalk } from "../join/joined-talk.tsx";
import { request } from "../shared/read-record.ts";

interface Grant {
  readonly id: string;
  readonly toolName: string;
  readonly type: string;
  readonly pattern: string;
}

/** What this participant has allowed for always, in all rooms, to be taken back. */
export function Grants(): ReactNode {
  const { token } = useJoinedTalk();
  const { open } = usePermissions();
  const [grants, setGrants] = useState<readonly Grant[]>([]);
  const load = useCallback(async () => {
    const response = await request(token, "/permissions/grants");
    setGrants((await response.json()) as readonly Grant[]);
  }, [token]);
  useEffect(() => {
    load().catch(() => {});
  }, [load, open]);
  const takeBack = async (id: string) => {
    await request(token, `/permissions/grants/${encodeURIComponent(id)}`, { method: "DELETE" });
    await load();
  };
  return (
    <section>
      <h2>Always allowed</h2>
      {grants.length === 0 && <p className="hint">Nothing. What you always allow stands here, to be taken back.</p>}
      <ul className="rows">
        {grants.map(({ id, toolName, pattern }) => (
          <li key={id}>
            <span>
              {toolName} <code>{pattern}</code>
            </span>
            <button type="button" onClick={() => void takeBack(id)} aria-label={`Take back ${toolName} ${pattern}`}>
              Take back
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
